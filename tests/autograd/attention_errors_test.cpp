// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "autograd/attention_case.h"
#include "autograd/engine.h"
#include "autograd/ops/attention.h"
#include "support/devices.h"
#include "support/error_text.h"

namespace moiety {
namespace {

using namespace testing::attention;  // NOLINT: the file is about it

class AttentionPointers : public ::testing::TestWithParam<std::string> {};

TEST(AttentionErrors, NameWhatDoesNotFit) {
  const auto device = make_cpu_device(1);
  const auto error_with = [&](const Case& c, const Lengths& queries, const Lengths& keys) {
    return testing::error_text([&] {
      const Variables x = make_inputs(c, DType::f32, *device);
      ops::attention(x[0], x[1], x[2], {pointers(queries, *device), pointers(keys, *device)}, {},
                     x.size() > 3 ? x[3] : Variable());
    });
  };
  const Case c{.name = {}, .queries = {4, 2}};
  EXPECT_TRUE(
      testing::says(error_with(c, {4, 1}, {4, 2}), {"attention: query_ptr[2] is 5", "rows, 6"}));
  EXPECT_TRUE(
      testing::says(error_with(c, {7, -1}, {4, 2}), {"query_ptr must ascend", "query_ptr[2] = 6"}));
  EXPECT_TRUE(testing::says(error_with(c, {4, 2}, {6}), {"key_ptr", "2 sequences"}));
  const Case three{.name = "", .queries = {4}, .heads = 3, .key_heads = 2};
  EXPECT_TRUE(testing::says(error_with(three, {4}, {4}), {"3 heads cannot share 2"}));
  const Case narrow{.name = "", .queries = {4, 2}, .bias = {1, 1, 3, 4}};
  EXPECT_TRUE(testing::says(error_with(narrow, {4, 2}, {4, 2}), {"sequence 0", "only 3"}));
}

TEST_P(AttentionPointers, AreCheckedBeforeTheyAreTrusted) {
  const auto device = make_device(GetParam(), 1);
  const Case c{.name = {}, .queries = {4, 2}};
  const Variables x = make_inputs(c, DType::f32, *device);
  const Tensor good = pointers({4, 2}, *device);
  const Tensor bad = pointers({4, 1}, *device);
  const auto run_with = [&](const Tensor& query_ptr, const Tensor& key_ptr) {
    return testing::error_text([&] {
      ops::attention(x[0], x[1], x[2], {query_ptr, key_ptr}).data().to_vector<float>();
    });
  };
  EXPECT_TRUE(testing::says(run_with(bad, good), {"attention: ", "query_ptr[2] is "}));
  EXPECT_TRUE(testing::says(run_with(good, bad), {"attention: ", "key_ptr[2] is "}));
  EXPECT_EQ(run_with(good, good), "nothing was thrown");
}

INSTANTIATE_TEST_SUITE_P(Devices, AttentionPointers, ::testing::ValuesIn(testing::devices()),
                         [](const auto& each) { return each.param; });

TEST(AttentionErrors, RefusesASecondDerivative) {
  const auto device = make_cpu_device(1);
  const Case c{.name = {}, .queries = {3}};
  const Variables x = make_inputs(c, DType::f64, *device);
  const Variable out = run(c, x);
  EXPECT_TRUE(testing::says(testing::error_text([&] {
                              autograd::grad({out}, x, {Variable(out.data().clone())},
                                             {.create_graph = true});
                            }),
                            {"attention has no second derivative"}));
}

}  // namespace
}  // namespace moiety
