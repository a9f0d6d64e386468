// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/sequence_layout.h"

#include <gtest/gtest.h>

#include "tensor/tensor.h"

namespace moiety {
namespace {

TEST(SequenceLayoutOnGpu, SaysHowLongSequencesAreAndWhereTheyBegin) {
  if (cuda_status().count == 0) GTEST_SKIP() << "no GPU: " << cuda_status().reason;
  const auto gpu = make_cuda_device(0, 1);
  for (const std::int64_t sequences : {1, 3, 255, 256, 300}) {
    std::vector<std::int32_t> begins = {0};
    for (std::int64_t b = 0; b < sequences; ++b) {
      begins.push_back(begins.back() + static_cast<std::int32_t>(b * 7 % 5));
    }
    const Tensor ptr = Tensor::from(begins, {sequences + 1}, *gpu);
    const Tensor lengths = Tensor::zeros({sequences}, DType::i32, *gpu);
    const Tensor offsets = Tensor::zeros({2, sequences + 1}, DType::i64, *gpu);
    kernels::cuda::sequence_layout(gpu->stream(), ptr, {96, std::int64_t{1} << 40},
                                   lengths.data<std::int32_t>(), offsets.data<std::int64_t>());
    const auto got_lengths = lengths.to_vector<std::int32_t>();
    const auto got = offsets.to_vector<std::int64_t>();
    for (std::size_t b = 0; b < begins.size(); ++b) {
      EXPECT_EQ(got[b], 96 * std::int64_t{begins[b]});
      EXPECT_EQ(got[begins.size() + b], (std::int64_t{1} << 40) * begins[b]);
    }
    for (std::size_t b = 0; b < got_lengths.size(); ++b) {
      EXPECT_EQ(got_lengths[b], begins[b + 1] - begins[b]);
    }
  }
}

}  // namespace
}  // namespace moiety
