// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/cudnn.h"

#if defined(MOIETY_HAS_CUDNN)
#include <compare>
#include <cstdint>
#include <deque>
#include <vector>

#include "tensor/dtype.h"

namespace moiety::kernels::cuda {

/// All that a graph of attention depends on. Strides are in elements.
struct AttentionGraphKey {
  DType dtype;
  bool causal = false;
  std::int64_t sequences = 0;
  std::int64_t longest = 0;  ///< no sequence has more tokens
  std::int64_t heads = 0;
  std::int64_t key_heads = 0;
  std::int64_t width = 0;
  std::int64_t q_strides[2] = {};  ///< of a token and of a head
  std::int64_t k_strides[2] = {};
  std::int64_t v_strides[2] = {};

  auto operator<=>(const AttentionGraphKey&) const = default;
};

/// Numbers of the tensors that a graph reads and writes.
enum class GraphTensor : std::int64_t {
  q = 1,
  k,
  v,
  out,
  lse,
  scale,           ///< f32, by value
  minus_infinity,  ///< f32, by value
  query_lengths,   ///< [B] i32
  key_lengths,     ///< [B] i32
  q_offsets,       ///< [B+1] i64: where each sequence begins in its tensor, in elements
  k_offsets,
  v_offsets,
  out_offsets,
  lse_offsets
};

/// softmax(scale q k^T) v of packed sequences, and the log of the sums of exponentials, as a graph
/// of cuDNN's operations.
class AttentionGraph {
 public:
  explicit AttentionGraph(const AttentionGraphKey& key);

  /// The operations, as a graph for a GPU takes them.
  const std::vector<CudnnDescriptor>& operations() const { return operations_; }

 private:
  CudnnDescriptor& keep(CudnnDescriptor descriptor);
  CudnnDescriptor& make_virtual(cudnnDataType_t type, bool of_rows = false);
  void pointwise(cudnnPointwiseMode_t mode, cudnnDataType_t compute, const CudnnDescriptor& x,
                 const CudnnDescriptor* b, const CudnnDescriptor& y,
                 const CudnnDescriptor* mask = nullptr);
  void reduce(cudnnReduceTensorOp_t op, const CudnnDescriptor& x, const CudnnDescriptor& y);
  void multiply(const CudnnDescriptor& a, const CudnnDescriptor& b, const CudnnDescriptor& c);
  const CudnnDescriptor& arithmetic(cudnnPointwiseMode_t mode, const CudnnDescriptor& x,
                                    const CudnnDescriptor& b);
  const CudnnDescriptor& index_along(std::int64_t axis, const CudnnDescriptor& like);
  const CudnnDescriptor& compare(cudnnPointwiseMode_t mode, const CudnnDescriptor& a,
                                 const CudnnDescriptor& b);
  /// The scores where the mask is true, minus infinity elsewhere.
  const CudnnDescriptor& select(const CudnnDescriptor& scores, const CudnnDescriptor& mask,
                                const CudnnDescriptor& minus_infinity);

  std::vector<std::int64_t> pairs_;  // [B, H, Lq, Lk]
  std::int64_t next_virtual_ = 100;
  std::deque<CudnnDescriptor> tensors_;
  std::vector<CudnnDescriptor> operations_;
};

}  // namespace moiety::kernels::cuda
#endif
