// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "autograd/attention_case.h"
#include "autograd/engine.h"
#include "autograd/ops/elementwise.h"
#include "support/error_text.h"

// cuDNN's attention against our own. Where there is no cuDNN, that this is said.
namespace moiety {
namespace {

using namespace testing::attention;  // NOLINT: the file is about it
using kernels::AttentionLibrary;
using testing::error_text;
using testing::says;

Variables halves(const Case& c, Device& device) {
  Variables out;
  for (const Variable& x : make_inputs(c, DType::f32, device)) {
    out.emplace_back(ops::cast(x.detach(), DType::bf16).data(), true);
  }
  return out;
}

Variable run_by(AttentionLibrary library, const Case& c, const Variables& x) {
  Device& device = x[0].device();
  const Tensor ptr = pointers(c.queries, device);
  const Tensor key_ptr = c.keys.empty() ? ptr : pointers(c.keys, device);
  ops::AttentionOptions options = options_of(c);
  options.library = library;
  const Variable out =
      ops::attention(x[0], x[1], x[2], {ptr, key_ptr}, options, x.size() > 3 ? x[3] : Variable());
  device.synchronize(device.stream());
  return out;
}

std::vector<float> values_of(const Variable& x) {
  return ops::cast(x.detach(), DType::f32).data().to_vector<float>();
}

class CudnnAttentionOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda_status().count == 0) GTEST_SKIP() << "no GPU: " << cuda_status().reason;
    gpu_ = make_cuda_device(0, 1);
  }
  std::unique_ptr<Device> gpu_;
};

TEST_F(CudnnAttentionOnGpu, IsOurs) {
  for (const Case& c :
       {Case{.name = "all", .queries = {5, 64, 1, 90}, .width = 32},
        Case{.name = "causal", .queries = {5, 64, 1, 90}, .width = 64, .causal = true},
        Case{.name = "grouped", .queries = {33, 17}, .heads = 4, .width = 32, .causal = true}}) {
    const Variables x = halves(c, *gpu_);
    const Variable own = run_by(AttentionLibrary::own, c, x);
    Variable theirs;
    try {
      theirs = run_by(AttentionLibrary::cudnn, c, x);
    } catch (const CudaError& missing) {
      EXPECT_TRUE(says(missing.what(), {"cuDNN", "run.attention = \"own\""}) ||
                  says(missing.what(), {"libcudnn", "use \"own\""}))
          << missing.what();
      GTEST_SKIP() << missing.what();
    }
    const auto compare = [&](const Variable& a, const Variable& b) {
      const std::vector<float> left = values_of(a);
      const std::vector<float> right = values_of(b);
      for (std::size_t i = 0; i < left.size(); ++i) ASSERT_NEAR(left[i], right[i], 0.02) << c.name;
    };
    compare(theirs, own);
    const Variable flow(own.data().clone());
    const Variables gradients = autograd::grad({own}, x, {flow});
    const Variables from_theirs = autograd::grad({theirs}, x, {flow});
    for (std::size_t i = 0; i < 3; ++i) compare(from_theirs[i], gradients[i]);
  }
}

TEST_F(CudnnAttentionOnGpu, RefusesWhatItDoesNotDo) {
  const auto refusal = [&](const Case& c) {
    return error_text<UserError>([&] { run_by(AttentionLibrary::cudnn, c, halves(c, *gpu_)); });
  };
  EXPECT_TRUE(says(refusal({.name = {}, .queries = {5}, .width = 32, .dropout = 0.5}),
                   {"model.attention_dropout", "run.attention"}));
  EXPECT_TRUE(says(refusal({.name = {}, .queries = {5}, .width = 32, .bias = {1, 1, 5, 5}}),
                   {"bias", "run.attention"}));
  EXPECT_TRUE(says(refusal({.name = {}, .queries = {5}, .keys = {7}, .width = 32, .causal = true}),
                   {"as many keys as queries", "run.attention"}));
}

TEST(CudnnAttention, NeedsAGpu) {
  const auto cpu = make_cpu_device(1);
  const Case c{.name = {}, .queries = {5}, .width = 32};
  EXPECT_TRUE(says(error_text<UserError>([&] {
                     run_by(AttentionLibrary::cudnn, c, make_inputs(c, DType::f32, *cpu));
                   }),
                   {"run.attention = \"cudnn\" needs a GPU"}));
}

}  // namespace
}  // namespace moiety
