// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/attention_graph.h"

#if defined(MOIETY_HAS_CUDNN)
#include "tensor/error.h"

namespace moiety::kernels::cuda {
namespace {

using Extents = std::vector<std::int64_t>;

Extents packed_strides(const Extents& extents) {
  Extents strides(extents.size(), 1);
  for (std::size_t d = extents.size() - 1; d > 0; --d) strides[d - 1] = strides[d] * extents[d];
  return strides;
}

CudnnDescriptor make_tensor(std::int64_t number, const Extents& extents, const Extents& strides,
                            cudnnDataType_t type, const CudnnDescriptor* offsets = nullptr,
                            bool is_virtual = false, bool by_value = false) {
  CudnnDescriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, {number})
      .set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {16})
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, extents)
      .set(CUDNN_ATTR_TENSOR_STRIDES, strides)
      .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual)
      .set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &by_value);
  if (offsets != nullptr) tensor.set(CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC, *offsets);
  tensor.finish();
  return tensor;
}

constexpr std::int64_t number_of(GraphTensor tensor) { return static_cast<std::int64_t>(tensor); }

}  // namespace

AttentionGraph::AttentionGraph(const AttentionGraphKey& key)
    : pairs_({key.sequences, key.heads, key.longest, key.longest}) {
  const cudnnDataType_t type = key.dtype == DType::bf16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_HALF;
  const std::int64_t b = key.sequences;
  const std::int64_t h = key.heads;
  const std::int64_t length = key.longest;
  const std::int64_t keys = key.longest;
  const std::int64_t width = key.width;
  const auto by_value = [&](GraphTensor number) -> const CudnnDescriptor& {
    return keep(make_tensor(number_of(number), {1, 1, 1, 1}, {1, 1, 1, 1}, CUDNN_DATA_FLOAT,
                            nullptr, false, /*by_value=*/true));
  };
  const auto vector = [&](GraphTensor number, std::int64_t count,
                          cudnnDataType_t of) -> const CudnnDescriptor& {
    return keep(make_tensor(number_of(number), {count, 1, 1, 1}, {1, 1, 1, 1}, of));
  };
  const auto ragged = [&](GraphTensor number, const Extents& extents, const Extents& strides,
                          cudnnDataType_t of, GraphTensor offsets) -> const CudnnDescriptor& {
    return keep(make_tensor(number_of(number), extents, strides, of,
                            &vector(offsets, b + 1, CUDNN_DATA_INT64)));
  };
  // The strides of sequences count for nothing: offsets say where each begins.
  const auto& q = ragged(GraphTensor::q, {b, h, length, width},
                         {length * key.q_strides[0], key.q_strides[1], key.q_strides[0], 1}, type,
                         GraphTensor::q_offsets);
  const auto& k = ragged(GraphTensor::k, {b, key.key_heads, width, keys},
                         {keys * key.k_strides[0], key.k_strides[1], 1, key.k_strides[0]}, type,
                         GraphTensor::k_offsets);
  const auto& v = ragged(GraphTensor::v, {b, key.key_heads, keys, width},
                         {keys * key.v_strides[0], key.v_strides[1], key.v_strides[0], 1}, type,
                         GraphTensor::v_offsets);
  const auto& out =
      ragged(GraphTensor::out, {b, h, length, width}, {length * h * width, width, h * width, 1},
             type, GraphTensor::out_offsets);
  const auto& lse = ragged(GraphTensor::lse, {b, h, length, 1}, {length * h, 1, h, 1},
                           CUDNN_DATA_FLOAT, GraphTensor::lse_offsets);
  const auto& query_lengths = vector(GraphTensor::query_lengths, b, CUDNN_DATA_INT32);
  const auto& key_lengths = vector(GraphTensor::key_lengths, b, CUDNN_DATA_INT32);
  const auto& minus_infinity = by_value(GraphTensor::minus_infinity);

  const CudnnDescriptor& products = make_virtual(CUDNN_DATA_FLOAT);
  multiply(q, k, products);
  const CudnnDescriptor* scores =
      &arithmetic(CUDNN_POINTWISE_MUL, products, by_value(GraphTensor::scale));
  const CudnnDescriptor& in_queries =
      compare(CUDNN_POINTWISE_CMP_LT, index_along(2, *scores), query_lengths);
  const CudnnDescriptor& in_keys =
      compare(CUDNN_POINTWISE_CMP_LT, index_along(3, *scores), key_lengths);
  scores =
      &select(*scores, compare(CUDNN_POINTWISE_LOGICAL_AND, in_queries, in_keys), minus_infinity);
  if (key.causal) {
    const CudnnDescriptor& query = index_along(2, *scores);
    scores = &select(*scores, compare(CUDNN_POINTWISE_CMP_GE, query, index_along(3, *scores)),
                     minus_infinity);
  }
  const CudnnDescriptor& top = make_virtual(CUDNN_DATA_FLOAT, /*of_rows=*/true);
  reduce(CUDNN_REDUCE_TENSOR_MAX, *scores, top);
  const CudnnDescriptor& exponentials = make_virtual(CUDNN_DATA_FLOAT);
  pointwise(CUDNN_POINTWISE_EXP, CUDNN_DATA_FLOAT, arithmetic(CUDNN_POINTWISE_SUB, *scores, top),
            nullptr, exponentials);
  const CudnnDescriptor& total = make_virtual(CUDNN_DATA_FLOAT, /*of_rows=*/true);
  reduce(CUDNN_REDUCE_TENSOR_ADD, exponentials, total);
  const CudnnDescriptor& log_total = make_virtual(CUDNN_DATA_FLOAT, /*of_rows=*/true);
  pointwise(CUDNN_POINTWISE_LOG, CUDNN_DATA_FLOAT, total, nullptr, log_total);
  pointwise(CUDNN_POINTWISE_ADD, CUDNN_DATA_FLOAT, top, &log_total, lse);
  const CudnnDescriptor& weights = make_virtual(type);
  pointwise(CUDNN_POINTWISE_DIV, CUDNN_DATA_FLOAT, exponentials, &total, weights);
  multiply(weights, v, out);
}

CudnnDescriptor& AttentionGraph::keep(CudnnDescriptor descriptor) {
  return tensors_.emplace_back(std::move(descriptor));
}

CudnnDescriptor& AttentionGraph::make_virtual(cudnnDataType_t type, bool of_rows) {
  Extents extents = pairs_;
  if (of_rows) extents.back() = 1;
  return keep(make_tensor(next_virtual_++, extents, packed_strides(extents), type, nullptr,
                          /*is_virtual=*/true));
}

void AttentionGraph::pointwise(cudnnPointwiseMode_t mode, cudnnDataType_t compute,
                               const CudnnDescriptor& x, const CudnnDescriptor* b,
                               const CudnnDescriptor& y, const CudnnDescriptor* mask) {
  CudnnDescriptor rule(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  rule.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode)
      .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &compute)
      .finish();
  CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, rule)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
  if (b != nullptr) operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b);
  if (mask != nullptr) operation.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, *mask);
  operation.finish();
  operations_.push_back(std::move(operation));
}

void AttentionGraph::reduce(cudnnReduceTensorOp_t op, const CudnnDescriptor& x,
                            const CudnnDescriptor& y) {
  const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  CudnnDescriptor rule(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  rule.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &op)
      .set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute)
      .finish();
  CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, rule)
      .set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x)
      .set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y)
      .finish();
  operations_.push_back(std::move(operation));
}

void AttentionGraph::multiply(const CudnnDescriptor& a, const CudnnDescriptor& b,
                              const CudnnDescriptor& c) {
  const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  CudnnDescriptor rule(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  rule.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute).finish();
  CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, rule)
      .set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a)
      .set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b)
      .set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, c)
      .finish();
  operations_.push_back(std::move(operation));
}

const CudnnDescriptor& AttentionGraph::arithmetic(cudnnPointwiseMode_t mode,
                                                  const CudnnDescriptor& x,
                                                  const CudnnDescriptor& b) {
  const CudnnDescriptor& y = make_virtual(CUDNN_DATA_FLOAT);
  pointwise(mode, CUDNN_DATA_FLOAT, x, &b, y);
  return y;
}

const CudnnDescriptor& AttentionGraph::index_along(std::int64_t axis, const CudnnDescriptor& like) {
  const cudnnPointwiseMode_t mode = CUDNN_POINTWISE_GEN_INDEX;
  const cudnnDataType_t compute = CUDNN_DATA_INT32;
  CudnnDescriptor rule(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  rule.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode)
      .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &compute)
      .set(CUDNN_ATTR_POINTWISE_AXIS, {axis})
      .finish();
  const CudnnDescriptor& index = make_virtual(CUDNN_DATA_INT32);
  CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, rule)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, like)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, index)
      .finish();
  operations_.push_back(std::move(operation));
  return index;
}

const CudnnDescriptor& AttentionGraph::compare(cudnnPointwiseMode_t mode, const CudnnDescriptor& a,
                                               const CudnnDescriptor& b) {
  const CudnnDescriptor& y = make_virtual(CUDNN_DATA_BOOLEAN);
  pointwise(mode, CUDNN_DATA_BOOLEAN, a, &b, y);
  return y;
}

const CudnnDescriptor& AttentionGraph::select(const CudnnDescriptor& scores,
                                              const CudnnDescriptor& mask,
                                              const CudnnDescriptor& minus_infinity) {
  const CudnnDescriptor& y = make_virtual(CUDNN_DATA_FLOAT);
  pointwise(CUDNN_POINTWISE_BINARY_SELECT, CUDNN_DATA_FLOAT, scores, &minus_infinity, y, &mask);
  return y;
}

}  // namespace moiety::kernels::cuda
#endif
