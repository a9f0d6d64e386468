// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "autograd/ops/elementwise.h"
#include "autograd/ops/loss.h"
#include "autograd/ops/norm.h"
#include "autograd/ops/random.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"

// Arguments that do not fit are refused before anything is computed.
namespace moiety {
namespace {

class OpErrors : public ::testing::Test {
 protected:
  Variable zeros(const Shape& shape, DType dtype = DType::f32) {
    return Variable(Tensor::zeros(shape, dtype, *device_));
  }

  std::unique_ptr<Device> device_ = make_cpu_device(1);
};

TEST_F(OpErrors, OperandsThatDoNotBroadcast) {
  EXPECT_THROW(ops::add(zeros({3}), zeros({4})), ShapeError);
  EXPECT_THROW(ops::mul(zeros({2, 3}), zeros({2})), ShapeError);
  EXPECT_THROW(ops::maximum(zeros({0}), zeros({2})), ShapeError);
}

TEST_F(OpErrors, OperandsOfTwoDtypes) {
  EXPECT_THROW(ops::add(zeros({3}), zeros({3}, DType::f64)), DTypeError);
}

TEST_F(OpErrors, DtypesWithoutArithmetic) {
  EXPECT_THROW(ops::exp(zeros({3}, DType::i32)), DTypeError);
  EXPECT_THROW(ops::sum(zeros({3}, DType::i32)), DTypeError);
  EXPECT_THROW(ops::cast(zeros({3}), DType::i32), DTypeError);
}

TEST_F(OpErrors, OperandsOnTwoDevices) {
  const auto other = make_cpu_device(1);
  EXPECT_THROW(ops::add(zeros({3}), Variable(Tensor::zeros({3}, DType::f32, *other))), Error);
}

TEST_F(OpErrors, BroadcastTargets) {
  EXPECT_THROW(ops::broadcast_to(zeros({3}), {4}), ShapeError);
  EXPECT_THROW(ops::broadcast_to(zeros({3, 4}), {4}), ShapeError);
  EXPECT_THROW(ops::sum_to(zeros({3, 4}), {3}), ShapeError);
  EXPECT_THROW(ops::sum_to(zeros({4}), {3, 4}), ShapeError);
}

TEST_F(OpErrors, Dimensions) {
  EXPECT_THROW(ops::sum(zeros({3}), 1), ShapeError);
  EXPECT_THROW(ops::sum(zeros({}), 0), ShapeError);
  EXPECT_THROW(ops::max(zeros({3, 0}), 1), ShapeError);
  EXPECT_THROW(ops::softmax(zeros({})), ShapeError);
  EXPECT_THROW(ops::transpose(zeros({3, 4}), 0, 2), ShapeError);
}

TEST_F(OpErrors, Shapes) {
  EXPECT_THROW(ops::reshape(zeros({3, 4}), {5, 2}), ShapeError);
  EXPECT_THROW(ops::reshape(zeros({3, 4}), {-1, -1}), ShapeError);
  EXPECT_THROW(ops::reshape(zeros({3, 4}), {-1, 5}), ShapeError);
  EXPECT_THROW(ops::slice(zeros({3}), 0, 1, 4), ShapeError);
  EXPECT_THROW(ops::slice(zeros({3}), 0, 2, 1), ShapeError);
  EXPECT_THROW(ops::concat({}, 0), ShapeError);
  EXPECT_THROW(ops::concat({zeros({2, 3}), zeros({2, 4})}, 0), ShapeError);
  EXPECT_THROW(ops::concat({zeros({2}), zeros({2}, DType::f64)}, 0), DTypeError);
}

TEST_F(OpErrors, Norms) {
  EXPECT_THROW(ops::layer_norm(zeros({3, 4}), zeros({3}), zeros({4})), ShapeError);
  EXPECT_THROW(ops::layer_norm(zeros({4}), zeros({4}), zeros({4})), ShapeError);
  const ops::BatchNormState state{zeros({4}).data(), zeros({4}).data()};
  EXPECT_THROW(ops::batch_norm(zeros({1, 4}), zeros({4}), zeros({4}), state, true), ShapeError);
  EXPECT_THROW(ops::batch_norm(zeros({5, 3}), zeros({3}), zeros({3}), state, true), ShapeError);
}

TEST_F(OpErrors, DropoutProbability) {
  for (const double p : {-0.1, 1.0, 2.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(ops::dropout(zeros({3}), p, RngKey{}), Error);
  }
}

TEST_F(OpErrors, Losses) {
  EXPECT_THROW(ops::regression_loss(zeros({3, 1}), zeros({3}).data(), ops::Loss::mse), ShapeError);
  EXPECT_THROW(ops::regression_loss(zeros({3}), zeros({3}, DType::f64).data(), ops::Loss::mse),
               DTypeError);
  EXPECT_THROW(ops::regression_loss(zeros({3}), zeros({3}).data(), ops::Loss::huber, 1.0, 0.0),
               Error);
}

}  // namespace
}  // namespace moiety
