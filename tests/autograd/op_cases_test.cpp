// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/op_case.h"

namespace moiety::testing {

std::vector<OpCase> all_op_cases() {
  std::vector<OpCase> all;
  for (const auto& family : {elementwise_cases(), reduce_cases(), shape_cases(), norm_cases(),
                             random_cases(), loss_cases(), matmul_cases(), gather_cases(),
                             segment_cases(), message_passing_cases(), rotary_cases()}) {
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

TEST_P(Operation, MatchesReferenceInBf16) {
  if (GetParam().halves) {
    EXPECT_EQ(check_against_reference(GetParam(), DType::bf16, *device_), "");
  }
}

TEST_P(Operation, MatchesReferenceInF16) {
  if (GetParam().halves) {
    EXPECT_EQ(check_against_reference(GetParam(), DType::f16, *device_), "");
  }
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

/// On the first GPU, or the emulated one; without either there is nothing to instantiate.
class OperationOnGpu : public ::testing::TestWithParam<OpCase> {
 protected:
  std::unique_ptr<Device> device_ = make_cuda_device(0, 1);
};

TEST_P(OperationOnGpu, MatchesReferenceInF64) {
  EXPECT_EQ(check_against_reference(GetParam(), DType::f64, *device_), "");
}

TEST_P(OperationOnGpu, MatchesReferenceInF32) {
  EXPECT_EQ(check_against_reference(GetParam(), DType::f32, *device_), "");
}

TEST_P(OperationOnGpu, MatchesReferenceInBf16) {
  if (GetParam().halves) {
    EXPECT_EQ(check_against_reference(GetParam(), DType::bf16, *device_), "");
  }
}

TEST_P(OperationOnGpu, MatchesReferenceInF16) {
  if (GetParam().halves) {
    EXPECT_EQ(check_against_reference(GetParam(), DType::f16, *device_), "");
  }
}

TEST_P(OperationOnGpu, GradientsMatchDifferences) {
  EXPECT_EQ(check_gradients(GetParam(), *device_), "");
}

TEST_P(OperationOnGpu, TakesStridedInputs) {
  EXPECT_EQ(check_strided_inputs(GetParam(), *device_), "");
}

TEST_P(OperationOnGpu, SameBitsEveryTime) { EXPECT_EQ(check_repeats(GetParam(), *device_), ""); }

std::vector<OpCase> gpu_cases() {
  return cuda_status().count > 0 ? all_op_cases() : std::vector<OpCase>{};
}

INSTANTIATE_TEST_SUITE_P(All, OperationOnGpu, ::testing::ValuesIn(gpu_cases()), case_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OperationOnGpu);

}  // namespace
}  // namespace moiety::testing
