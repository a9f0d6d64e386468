// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/attention_graph.h"

#include <gtest/gtest.h>

#include "tensor/error.h"

#if defined(MOIETY_HAS_CUDNN)
namespace moiety::kernels::cuda {
namespace {

/// cuDNN checks each operation as it is made, which needs no GPU.
TEST(AttentionGraphs, AreOperationsThatCudnnTakes) {
  try {
    cudnn();
  } catch (const CudaError& missing) {
    GTEST_SKIP() << missing.what();
  }
  for (const DType dtype : {DType::bf16, DType::f16}) {
    for (const bool causal : {false, true}) {
      const std::int64_t width = causal ? 64 : 32;
      const std::int64_t token = 20 * width;  // 12 heads of queries, 4 of keys, 4 of values
      const AttentionGraph graph({.dtype = dtype,
                                  .causal = causal,
                                  .sequences = 7,
                                  .longest = 100,
                                  .heads = 12,
                                  .key_heads = 4,
                                  .width = width,
                                  .q_strides = {token, width},
                                  .k_strides = {token, width},
                                  .v_strides = {token, width}});
      std::vector<cudnnBackendDescriptor_t> operations;
      for (const CudnnDescriptor& each : graph.operations()) operations.push_back(each.get());
      CudnnDescriptor whole(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
      whole
          .set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, std::ssize(operations),
               operations.data())
          .finish();
      EXPECT_EQ(operations.size(), causal ? 20u : 16u);
    }
  }
}

TEST(AttentionGraphs, RefuseWhatDoesNotFit) {
  try {
    cudnn();
  } catch (const CudaError& missing) {
    GTEST_SKIP() << missing.what();
  }
  EXPECT_THROW(AttentionGraph({.dtype = DType::bf16,
                               .sequences = 7,
                               .longest = 100,
                               .heads = 12,
                               .key_heads = 5,
                               .width = 32,
                               .q_strides = {640, 32},
                               .k_strides = {640, 32},
                               .v_strides = {640, 32}}),
               CudaError);
}

}  // namespace
}  // namespace moiety::kernels::cuda
#endif
