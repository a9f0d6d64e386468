// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "autograd/ops/matmul.h"
#include "autograd/ops/norm.h"
#include "nn/forward_context.h"
#include "nn/init.h"
#include "nn/module.h"

namespace moiety::nn {

/// x [N, In] -> x weight^T + bias [N, Out], weight [Out, In] as in PyTorch, in the dtype of x.
/// The bias is zero at first.
class Linear : public Module {
 public:
  /// Glorot weights.
  Linear(Initializer& init, std::int64_t in, std::int64_t out, bool bias = true);
  /// The weights that are given.
  Linear(Initializer& init, Tensor weight);
  Variable forward(const Variable& x, ops::Epilogue epilogue = ops::Epilogue::none) const;
  /// The outputs in consecutive parts of these extents, which add up to Out, each of rows of its
  /// own: xs[i] [Ni, In] -> [Ni, extents[i]].
  Variables forward_parts(const Variables& xs, const std::vector<std::int64_t>& extents) const;

 private:
  Variable weight_;
  Variable bias_;
};

/// Sum of the embeddings of F categorical features: index [N, F] i32 -> [N, C] of a dtype. One
/// table with the features' rows stacked.
class CategoricalEmbedding : public Module {
 public:
  CategoricalEmbedding(Initializer& init, std::vector<std::int32_t> dims, std::int64_t channels);
  Variable forward(const Tensor& index, DType dtype) const;
  const std::vector<std::int32_t>& dims() const { return dims_; }

 private:
  std::vector<std::int32_t> dims_;
  Variable table_;
};

class LayerNorm : public Module {
 public:
  LayerNorm(Initializer& init, std::int64_t channels);
  Variable forward(const Variable& x, const ops::NormTail& tail = {}) const;

 private:
  Variable weight_;
  Variable bias_;
};

/// Over the rows that context.rows() counts: rows of x must be nodes where it is set. Running
/// statistics are updated in training passes.
class BatchNorm : public Module {
 public:
  BatchNorm(Initializer& init, std::int64_t channels);
  Variable forward(const Variable& x, const ForwardContext& context,
                   const ops::NormTail& tail = {}) const;

 private:
  Variable weight_;
  Variable bias_;
  ops::BatchNormState state_;
};

enum class NormKind : std::uint8_t { none, layer, batch };
enum class Activation : std::uint8_t { relu, silu, gelu, tanh, gelu_tanh };

/// A norm chosen at run time.
class Norm : public Module {
 public:
  Norm(Initializer& init, NormKind kind, std::int64_t channels);
  Variable forward(const Variable& x, const ForwardContext& context,
                   const ops::NormTail& tail = {}) const;
  /// residual + activation(norm(x)), in one pass where the activation is a ReLU; residual may be
  /// undefined.
  Variable activated(const Variable& x, Activation activation, const ForwardContext& context,
                     const Variable& residual = {}) const;
  bool is_none() const { return layer_ == nullptr && batch_ == nullptr; }

 private:
  const LayerNorm* layer_ = nullptr;
  const BatchNorm* batch_ = nullptr;
};

/// Dropout of rows that begin at row `first_row` of the whole batch; identity in inference.
Variable dropout(const Variable& x, double p, ForwardContext& context, std::int64_t first_row);

Variable activate(const Variable& x, Activation activation);

/// Linear, norm, activation, ..., Linear: `widths` are the extents from input to output.
class Mlp : public Module {
 public:
  Mlp(Initializer& init, const std::vector<std::int64_t>& widths, Activation activation,
      NormKind norm = NormKind::none);
  Variable forward(const Variable& x, const ForwardContext& context) const;

 private:
  Activation activation_;
  std::vector<const Linear*> linears_;
  std::vector<const Norm*> norms_;
};

}  // namespace moiety::nn
