// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/op_case.h"

namespace moiety::testing {

std::vector<OpCase> all_op_cases() {
  std::vector<OpCase> all;
  for (const auto& family :
       {elementwise_cases(), reduce_cases(), shape_cases(), norm_cases(), random_cases(),
        loss_cases(), matmul_cases(), gather_cases(), segment_cases(), message_passing_cases()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  return all;
}

namespace {

class Operation : public ::testing::TestWithParam<OpCase> {
 protected:
  std::unique_ptr<Device> device_ = make_cpu_device(2);
};

TEST_P(Operation, MatchesReferenceInF64) {
  EXPECT_EQ(check_against_reference(GetParam(), DType::f64, *device_), "");
}

TEST_P(Operation, MatchesReferenceInF32) {
  EXPECT_EQ(check_against_reference(GetParam(), DType::f32, *device_), "");
}

TEST_P(Operation, GradientsMatchDifferences) {
  EXPECT_EQ(check_gradients(GetParam(), *device_), "");
}

TEST_P(Operation, SameBitsOnAnyNumberOfThreads) {
  EXPECT_EQ(check_thread_invariance(GetParam()), "");
}

TEST_P(Operation, TakesStridedInputs) { EXPECT_EQ(check_strided_inputs(GetParam(), *device_), ""); }

std::string case_name(const ::testing::TestParamInfo<OpCase>& c) { return c.param.name; }

INSTANTIATE_TEST_SUITE_P(All, Operation, ::testing::ValuesIn(all_op_cases()), case_name);

}  // namespace
}  // namespace moiety::testing
