// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "autograd/engine.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/norm.h"
#include "support/op_case.h"

// A norm with what follows it in one pass gives what the operations give one after the other.
namespace moiety::testing {
namespace {

using Floats = std::vector<float>;

struct Case {
  bool batch;
  std::int64_t rows;
  std::int64_t width;
};

OpCase inputs_of(const Case& c) {
  OpCase inputs;
  const Shape matrix{c.rows, c.width};
  inputs.inputs = {matrix, {c.width}, {c.width}, matrix, matrix};
  return inputs;
}

/// Output and gradients of x, weight, bias and residual.
std::vector<Floats> run(const Case& c, bool fused, Device& device) {
  const Variables in = make_inputs(inputs_of(c), DType::f32, device, true);
  const ops::NormTail tail = fused ? ops::NormTail{ops::Epilogue::relu, in[3]} : ops::NormTail{};
  const ops::BatchNormState state{Tensor::zeros({c.width}, DType::f32, device),
                                  Tensor::zeros({c.width}, DType::f32, device)};
  Variable out = c.batch ? ops::batch_norm(in[0], in[1], in[2], state, true, {.tail = tail})
                         : ops::layer_norm(in[0], in[1], in[2], 1e-5, tail);
  if (!fused) out = ops::add(in[3], ops::relu(out));
  std::vector<Floats> results{out.data().to_vector<float>()};
  for (const Variable& g : autograd::grad({out}, {in[0], in[1], in[2], in[3]}, {in[4].detach()})) {
    results.push_back(g.data().to_vector<float>());
  }
  return results;
}

/// The same, but for the rounding of products that one of the two adds without rounding them.
void expect_close(const Floats& got, const Floats& expected) {
  ASSERT_EQ(got.size(), expected.size());
  float largest = 0;
  for (const float e : expected) largest = std::max(largest, std::fabs(e));
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], expected[i], 1e-6f * largest) << "element " << i;
  }
}

void compare(Device& device) {
  for (const bool batch : {false, true}) {
    for (const auto& [rows, width] : {std::pair{7, 5}, std::pair{300, 64}, std::pair{40, 1100}}) {
      const Case c{batch, rows, width};
      SCOPED_TRACE(concat(batch ? "batch " : "layer ", rows, " x ", width));
      const auto got = run(c, true, device);
      const auto expected = run(c, false, device);
      EXPECT_TRUE(got[0] == expected[0]);
      for (std::size_t i = 1; i < expected.size(); ++i) expect_close(got[i], expected[i]);
    }
  }
}

TEST(NormTail, GivesWhatSeparateOperationsGive) { compare(*make_cpu_device(2)); }

TEST(NormTail, GivesWhatSeparateOperationsGiveOnAGpu) {
  if (cuda_status().count == 0) GTEST_SKIP() << "no GPU";
  compare(*make_cuda_device(0, 1));
}

TEST(NormTail, RefusesAResidualThatIsNotLikeX) {
  const auto device = make_cpu_device(1);
  const auto zeros = [&](const Shape& shape, DType dtype = DType::f32) {
    return Variable(Tensor::zeros(shape, dtype, *device));
  };
  const auto norm = [&](const Variable& residual) {
    ops::layer_norm(zeros({3, 4}), zeros({4}), zeros({4}), 1e-5, {.residual = residual});
  };
  EXPECT_THROW(norm(zeros({4, 3})), ShapeError);
  EXPECT_THROW(norm(zeros({4})), ShapeError);
  EXPECT_THROW(norm(zeros({3, 4}, DType::f64)), DTypeError);
}

}  // namespace
}  // namespace moiety::testing
