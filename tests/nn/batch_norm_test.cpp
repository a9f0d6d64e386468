// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "nn/layers.h"

namespace moiety::nn {
namespace {

using Floats = std::vector<float>;

Tensor buffer(const BatchNorm& norm, const std::string& name) {
  for (const NamedBuffer& b : norm.named_buffers()) {
    if (b.name == name) return b.value;
  }
  throw Error("no buffer " + name);
}

TEST(BatchNorm, LeavesPaddingOut) {
  const auto device = make_cpu_device(1);
  Initializer init(*device);
  const BatchNorm norm(init, 2);
  auto context = ForwardContext::training(0, 0);
  context.set_rows(Tensor::from(std::vector<std::int32_t>{3}, {1}, *device));
  const Tensor x = Tensor::from(Floats{1, 10, 3, 20, 5, 30, 7000, -7000}, {4, 2}, *device);
  norm.forward(Variable(x), context);
  const auto mean = buffer(norm, "running_mean").to_vector<float>();
  const auto var = buffer(norm, "running_var").to_vector<float>();
  EXPECT_FLOAT_EQ(mean[0], 0.1f * 3);
  EXPECT_FLOAT_EQ(mean[1], 0.1f * 20);
  EXPECT_FLOAT_EQ(var[0], 0.9f + 0.1f * 4);
  EXPECT_FLOAT_EQ(var[1], 0.9f + 0.1f * 100);
}

TEST(BatchNorm, KeepsStatisticsOfHalvesInF32) {
  if (cuda_status().count == 0) GTEST_SKIP() << "bf16 runs on a GPU alone";
  const auto device = make_cuda_device(0, 1);
  Initializer init(*device, 0, DType::bf16);
  const BatchNorm norm(init, 1);
  auto context = ForwardContext::training(0, 0);
  const std::vector<BFloat16> x{to_bfloat16(1.0f), to_bfloat16(1.0f), to_bfloat16(1.0078125f)};
  norm.forward(Variable(Tensor::from(x, {3, 1}, *device)), context);
  const Tensor mean = buffer(norm, "running_mean");
  ASSERT_EQ(mean.dtype(), DType::f32);
  EXPECT_FLOAT_EQ(mean.to_vector<float>()[0], 0.1f * (3.0078125f / 3));
}

}  // namespace
}  // namespace moiety::nn
