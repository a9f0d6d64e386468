// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "autograd/attention_case.h"
#include "autograd/engine.h"
#include "autograd/ops/elementwise.h"

// Attention on tensor cores against the CPU's in f64 on the same, rounded, operands.
namespace moiety {
namespace {

using namespace testing::attention;  // NOLINT: the file is about it

/// Of the largest element: roundings of operands, of weights before they multiply the values, and
/// of the result.
double tolerance_of(DType dtype) { return dtype == DType::bf16 ? 0.02 : 0.0025; }

/// The output and all gradients, each on the CPU in f64.
std::vector<Numbers> everything(const Case& c, const Variables& x, const Variable& flow) {
  const Variable out = run(c, x);
  Variables all = autograd::grad({out}, x, {flow});
  all.insert(all.begin(), out);
  std::vector<Numbers> values;
  for (const Variable& each : all) {
    values.push_back(ops::cast(each.detach(), DType::f64).data().to_vector<double>());
  }
  return values;
}

class AttentionMmaOnGpu : public ::testing::TestWithParam<std::tuple<DType, Case>> {
 protected:
  void SetUp() override {
    if (cuda_status().count == 0) GTEST_SKIP() << "no GPU: " << cuda_status().reason;
    gpu_ = make_cuda_device(0, 1);
    gpu_->set_fast_products(true);  // what f32 needs
  }
  DType dtype() const { return std::get<0>(GetParam()); }
  const Case& the_case() const { return std::get<1>(GetParam()); }

  Variable on_gpu(const Shape& shape, std::uint64_t stream) const {
    const Numbers values = random_numbers(shape, stream);
    const Variable x(Tensor::from(std::vector<float>(values.begin(), values.end()), shape, *gpu_));
    return Variable(ops::cast(x, dtype()).data(), true);
  }
  /// The later half of the heads of something wider, as slices of a joint projection are.
  Variable slice_on_gpu(const Shape& shape, std::uint64_t stream) const {
    const Variable wide = on_gpu({shape[0], 2 * shape[1], shape[2]}, stream);
    return Variable(wide.data().slice(1, shape[1], 2 * shape[1]), true);
  }
  Variable exact(const Variable& x) const {
    return Variable(ops::cast(x.detach(), DType::f64).data().to(*cpu_), true);
  }

  std::unique_ptr<Device> cpu_ = make_cpu_device(1);
  std::unique_ptr<Device> gpu_;
};

TEST_P(AttentionMmaOnGpu, IsNearTheExactOne) {
  const Case& c = the_case();
  Variables x;
  Variables reference;
  for (const Shape& shape : shapes_of(c)) {
    x.push_back(x.size() < 3 ? slice_on_gpu(shape, x.size()) : on_gpu(shape, x.size()));
    reference.push_back(exact(x.back()));
  }
  const Variable flow = on_gpu(x[0].shape(), 77);
  const std::vector<Numbers> got = everything(c, x, flow);
  const std::vector<Numbers> expected = everything(c, reference, exact(flow));
  ASSERT_EQ(got.size(), expected.size());
  bool rounds = false;
  for (std::size_t part = 0; part < got.size(); ++part) {
    ASSERT_EQ(got[part].size(), expected[part].size());
    double largest = 0.05;
    for (const double value : expected[part]) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < got[part].size(); ++i) {
      ASSERT_NEAR(got[part][i], expected[part][i], tolerance_of(dtype()) * largest)
          << "part " << part << ", element " << i;
      rounds = rounds || std::abs(got[part][i] - expected[part][i]) > 1e-5 * largest;
    }
  }
  EXPECT_TRUE(rounds || c.name == "sees_little") << "this was not computed on tensor cores";
  EXPECT_EQ(everything(c, x, flow), got) << "two runs differ";
}

const Case kCases[] = {
    {.name = "short_ones", .queries = {1, 2, 17, 0, 20, 3}, .width = 32},
    {.name = "short_causal", .queries = {1, 2, 17, 0, 20, 3}, .width = 32, .causal = true},
    {.name = "around_64", .queries = {63, 64, 65}, .heads = 1, .key_heads = 1, .width = 32},
    {.name = "causal_64",
     .queries = {63, 65},
     .heads = 1,
     .key_heads = 1,
     .width = 64,
     .causal = true},
    {.name = "length_257",
     .queries = {257},
     .heads = 1,
     .key_heads = 1,
     .width = 16,
     .causal = true},
    {.name = "wide", .queries = {70, 33}, .heads = 1, .key_heads = 1, .width = 128, .causal = true},
    {.name = "between_widths", .queries = {40, 5}, .heads = 1, .key_heads = 1, .width = 72},
    {.name = "grouped",
     .queries = {35, 9},
     .heads = 4,
     .key_heads = 2,
     .width = 24,
     .causal = true},
    {.name = "cross", .queries = {3, 40, 0}, .keys = {70, 7, 4}, .width = 16},
    {.name = "causal_with_more_keys",
     .queries = {30, 2},
     .keys = {75, 4},
     .width = 16,
     .causal = true},
    {.name = "sees_little", .queries = {70, 3}, .keys = {2, 0}, .width = 16, .causal = true},
    {.name = "dropout", .queries = {66, 9}, .width = 32, .dropout = 0.4},
    {.name = "dropout_causal",
     .queries = {40},
     .heads = 4,
     .key_heads = 2,
     .width = 16,
     .causal = true,
     .dropout = 0.1},
    {.name = "bias_full", .queries = {33, 5}, .width = 16, .bias = {2, 2, 33, 33}},
    {.name = "bias_of_pairs",
     .queries = {70},
     .width = 16,
     .causal = true,
     .dropout = 0.2,
     .bias = {1, 2, 70, 70}},
    {.name = "bias_of_keys", .queries = {20, 9}, .width = 32, .bias = {2, 1, 1, 20}},
};

INSTANTIATE_TEST_SUITE_P(All, AttentionMmaOnGpu,
                         ::testing::Combine(::testing::Values(DType::bf16, DType::f16, DType::f32),
                                            ::testing::ValuesIn(kCases)),
                         [](const auto& each) {
                           return name_of(std::get<0>(each.param)) + "_" +
                                  std::get<1>(each.param).name;
                         });

TEST(AttentionMmaMaskOnGpu, RowsThatSeeNothingAreZero) {
  if (cuda_status().count == 0) GTEST_SKIP() << "no GPU: " << cuda_status().reason;
  const auto gpu = make_cuda_device(0, 1);
  const Case c{.name = {}, .queries = {3}, .width = 16, .bias = {1, 1, 3, 3}};
  Variables x = make_inputs(c, DType::f32, *gpu);
  std::vector<float> bias = x[3].data().to_vector<float>();
  const float minus_infinity = -std::numeric_limits<float>::infinity();
  std::fill_n(bias.begin() + 3, 3, minus_infinity);  // the second query sees no key
  bias[0] = minus_infinity;
  x[3] = Variable(Tensor::from(bias, {1, 1, 3, 3}, *gpu));
  for (Variable& each : x) each = Variable(ops::cast(each.detach(), DType::bf16).data(), true);
  const Variable out = run(c, x);
  const auto values = ops::cast(out.detach(), DType::f32).data().to_vector<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_TRUE(std::isfinite(values[i]));
    EXPECT_EQ(values[i] == 0, i / 32 == 1) << i;
  }
  for (const Variable& g : autograd::grad({out}, x, {Variable(out.data().clone())})) {
    for (const float value : ops::cast(g, DType::f32).data().to_vector<float>()) {
      EXPECT_TRUE(std::isfinite(value));
    }
  }
}

}  // namespace
}  // namespace moiety
