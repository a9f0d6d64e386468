// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/random.h"
#include "tensor/stream.h"
#include "tensor/view.h"

// Softmax attention over packed sequences: nothing is computed for padding, and no matrix of all
// pairs is kept (Dao et al. 2022; Rabe and Staats 2021). T tokens, H heads, D head size, B
// sequences. Kernels trust the pointers: see
// check_ptr in index_check.h. Floating views of one dtype, f32 or f64, on a GPU bf16 or f16 as
// well.
namespace moiety::kernels {

/// Whose kernels a GPU runs: the project's, or for bf16 and f16 those of cuDNN going forward.
enum class AttentionLibrary : std::uint8_t { own, cudnn };

struct AttentionRule {
  double scale = 1;          ///< of q . k, usually 1 / sqrt(D)
  bool causal = false;       ///< query i of a sequence sees its keys 0 .. i + keys - queries
  double dropout = 0;        ///< probability of dropping a pair after the softmax
  KeySource key = RngKey{};  ///< of the mask
  std::uint64_t first = 0;   ///< number of the first query in the whole batch, for the mask
  std::int64_t row_stride =
      0;  ///< mask elements of a query and head: at least the longest sequence
  AttentionLibrary library = AttentionLibrary::own;
};

struct AttentionInputs {
  TensorView q;          ///< [Tq, H, D]; D contiguous, as in k and v
  TensorView k;          ///< [Tk, G, D], H a multiple of G: heads h G / H share keys and values
  TensorView v;          ///< [Tk, G, D]
  TensorView query_ptr;  ///< [B+1] i32: queries of sequence b
  TensorView key_ptr;    ///< [B+1] i32: its keys
  TensorView bias;       ///< undefined, or [B|1, H|1, Lq|1, Lk|1], added to the scaled scores
};

/// out = softmax(scale q k^T + bias) v over the keys that each query sees; 0 where it sees none.
/// out [Tq, H, D], lse [Tq, H] in f32 (f64 for f64): log of the sum of the exponentials. Throws
/// ShapeError for views that do not fit, a bias shorter than a sequence among them, UserError for
/// what the library does not do.
void attention(const Stream& stream, const AttentionRule& rule, const AttentionInputs& in,
               const TensorView& out, const TensorView& lse);

struct AttentionGrads {
  TensorView q;     ///< [Tq, H, D]
  TensorView k;     ///< [Tk, G, D]
  TensorView v;     ///< [Tk, G, D]
  TensorView bias;  ///< as the bias; undefined: not wanted
};

/// Gradients from what attention() gave and the gradient of out [Tq, H, D], in a fixed order.
void attention_grad(const Stream& stream, const AttentionRule& rule, const AttentionInputs& in,
                    const TensorView& out, const TensorView& lse, const TensorView& grad,
                    const AttentionGrads& grads);

// The bodies, one a device.
namespace cpu {
decltype(kernels::attention) attention;
decltype(kernels::attention_grad) attention_grad;
}  // namespace cpu
namespace cuda {
decltype(kernels::attention) attention;
decltype(kernels::attention_grad) attention_grad;
}  // namespace cuda

}  // namespace moiety::kernels
