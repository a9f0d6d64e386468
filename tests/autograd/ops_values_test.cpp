// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "autograd/engine.h"
#include "autograd/node.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/loss.h"
#include "autograd/ops/norm.h"
#include "autograd/ops/random.h"
#include "autograd/ops/reduce.h"

// What the common checks of all operations do not see: special values, ties, state.
namespace moiety {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

class OpValues : public ::testing::Test {
 protected:
  Variable parameter(const std::vector<float>& values, const Shape& shape) {
    return Variable(Tensor::from(values, shape, *device_), true);
  }
  Variable parameter(const std::vector<float>& values) {
    return parameter(values, {static_cast<std::int64_t>(values.size())});
  }
  static std::vector<float> values(const Variable& v) { return v.data().to_vector<float>(); }

  std::unique_ptr<Device> device_ = make_cpu_device(1);
};

TEST_F(OpValues, NaNIsNotLost) {
  const Variable x = parameter({kNaN});
  const Variable zero = parameter({0});
  for (const Variable& y : {ops::relu(x), ops::exp(x), ops::log(x), ops::tanh(x), ops::sigmoid(x),
                            ops::gelu(x), ops::silu(x), ops::softplus(x), ops::maximum(x, zero),
                            ops::maximum(zero, x), ops::minimum(x, zero), ops::minimum(zero, x),
                            ops::max(x, 0), ops::softmax(x), ops::log_sum_exp(x, 0), ops::sum(x)}) {
    EXPECT_TRUE(std::isnan(y.item())) << y.node()->name();
  }
}

TEST_F(OpValues, ExtremesDoNotOverflow) {
  EXPECT_EQ(values(ops::exp(parameter({-kInf, -200, 200, kInf}))),
            (std::vector<float>{0, 0, kInf, kInf}));
  EXPECT_EQ(values(ops::sigmoid(parameter({-kInf, -200, 200, kInf}))),
            (std::vector<float>{0, 0, 1, 1}));
  EXPECT_EQ(values(ops::tanh(parameter({-kInf, -200, 200, kInf}))),
            (std::vector<float>{-1, -1, 1, 1}));
  EXPECT_EQ(values(ops::softplus(parameter({-kInf, -200, 200, kInf}))),
            (std::vector<float>{0, 0, 200, kInf}));
  EXPECT_EQ(values(ops::log(parameter({0, kInf}))), (std::vector<float>{-kInf, kInf}));
  EXPECT_EQ(ops::log_sum_exp(parameter({1000, 1000}), 0).item(), 1000 + std::log(2.0f));
  EXPECT_EQ(ops::log_sum_exp(parameter({-kInf, -kInf}), 0).item(), -kInf);
  EXPECT_EQ(values(ops::softmax(parameter({1000, 1000, -kInf}))), (std::vector<float>{.5, .5, 0}));
}

TEST_F(OpValues, TiesGoToTheFirst) {
  const Variable x = parameter({1, 3, 3, 2});
  EXPECT_EQ(values(autograd::grad({ops::max(x, 0)}, {x})[0]), (std::vector<float>{0, 1, 0, 0}));
  const Variable a = parameter({1, 2});
  const Variable b = parameter({1, 3});
  const Variables grads = autograd::grad({ops::sum(ops::maximum(a, b))}, {a, b});
  EXPECT_EQ(values(grads[0]), (std::vector<float>{1, 0}));
  EXPECT_EQ(values(grads[1]), (std::vector<float>{0, 1}));
}

TEST_F(OpValues, ConstantsGetNoGradientWork) {
  const Variable x = parameter({2});
  const Variable constant = parameter({3}).detach();
  EXPECT_EQ(values(autograd::grad({ops::mul(constant, x)}, {x})[0]), (std::vector<float>{3}));
  EXPECT_FALSE(ops::mul(constant, constant).requires_grad());
}

TEST_F(OpValues, CastRoundsAndReturnsGradientInItsInputsDtype) {
  const Variable x = parameter({1.0f, 1.00390625f, -2.5f, 70000.0f});
  const Variable half = ops::cast(x, DType::bf16);
  EXPECT_EQ(half.dtype(), DType::bf16);
  EXPECT_EQ(values(ops::cast(half, DType::f32)), (std::vector<float>{1, 1, -2.5, 70144}));
  EXPECT_EQ(values(ops::cast(ops::cast(x, DType::f16), DType::f32))[3], kInf);
  const Variable y = ops::sum(ops::square(ops::cast(x, DType::f64)));
  const Variable g = autograd::grad({y}, {x})[0];
  EXPECT_EQ(g.dtype(), DType::f32);
  EXPECT_EQ(values(g)[2], -5.0f);
}

TEST_F(OpValues, SumsOfManyFloatsAreAccurate) {
  const std::int64_t n = 1 << 22;
  const Variable x = parameter(std::vector<float>(static_cast<std::size_t>(n), 0.1f), {n, 1});
  const double exact = 0.1f * static_cast<double>(n);
  EXPECT_NEAR(ops::sum(x).item(), exact, 2e-7 * exact);
  EXPECT_NEAR(values(ops::sum(x, 0))[0], exact, 2e-7 * exact);
  const Variable wide =
      parameter(std::vector<float>(static_cast<std::size_t>(n), 0.1f), {n / 4, 4});
  EXPECT_NEAR(values(ops::sum(wide, 0))[3], exact / 4, 2e-7 * exact / 4);
}

TEST_F(OpValues, NormsDoNotCancelFarFromZero) {
  const Variable x = parameter({10000, 10001, 10002, 10003}, {1, 4});
  const Variable ones = parameter({1, 1, 1, 1});
  const Variable zeros = parameter({0, 0, 0, 0});
  EXPECT_NEAR(values(ops::layer_norm(x, ones, zeros))[0], -1.5 / std::sqrt(1.25), 1e-5);
}

TEST_F(OpValues, BatchNormKeepsRunningStatistics) {
  const Variable x = parameter({1, 10, 3, 20, 5, 30}, {3, 2});
  const Variable ones = parameter({1, 1});
  const ops::BatchNormState state{Tensor::zeros({2}, DType::f32, *device_),
                                  Tensor::from(std::vector<float>{1, 1}, {2}, *device_)};
  ops::batch_norm(x, ones, ones, state, /*training=*/true, {.momentum = 0.5});
  EXPECT_EQ(state.mean.to_vector<float>(), (std::vector<float>{1.5, 10}));
  EXPECT_EQ(state.var.to_vector<float>(), (std::vector<float>{2.5, 50.5}));  // unbiased: 4, 100
  ops::batch_norm(x, ones, ones, state, /*training=*/false);
  EXPECT_EQ(state.mean.to_vector<float>(), (std::vector<float>{1.5, 10}));
}

TEST_F(OpValues, BatchNormLeavesChannelsThatAreNotFiniteOutOfItsStatistics) {
  const Variable x = parameter({1, kNaN, 3, 20, 5, 30}, {3, 2});
  const Variable ones = parameter({1, 1});
  const ops::BatchNormState state{Tensor::zeros({2}, DType::f32, *device_),
                                  Tensor::from(std::vector<float>{1, 1}, {2}, *device_)};
  ops::batch_norm(x, ones, ones, state, /*training=*/true, {.momentum = 0.5});
  EXPECT_EQ(state.mean.to_vector<float>(), (std::vector<float>{1.5, 0}));
  EXPECT_EQ(state.var.to_vector<float>(), (std::vector<float>{2.5, 1}));
}

TEST_F(OpValues, DropoutKeepsTheMeanAndDropsTheSameElementsBackward) {
  const std::int64_t n = 100000;
  const Variable x = parameter(std::vector<float>(static_cast<std::size_t>(n), 1.0f));
  const Variable y = ops::dropout(x, 0.25, {1, 2});
  EXPECT_NEAR(ops::mean(y).item(), 1.0, 0.01);
  EXPECT_EQ(values(autograd::grad({ops::sum(y)}, {x})[0]), values(y));
}

TEST_F(OpValues, DropoutOfPartsIsThatOfTheWhole) {
  const Variable whole = parameter(std::vector<float>(1000, 1.0f));
  const Variable part = parameter(std::vector<float>(300, 1.0f));
  const auto all = values(ops::dropout(whole, 0.5, {1, 2}, 70));
  const auto some = values(ops::dropout(part, 0.5, {1, 2}, 70 + 123));
  EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin() + 123));
}

TEST_F(OpValues, MissingTargetsCountNothing) {
  const Variable p = parameter({1, 2, 3}, {3, 1});
  const Tensor target = Tensor::from(std::vector<float>{0, kNaN, 5}, {3, 1}, *device_);
  const Variable loss = ops::regression_loss(p, target, ops::Loss::mse, 0.5);
  EXPECT_EQ(loss.item(), 0.5 * (1 + 4));
  EXPECT_EQ(values(autograd::grad({loss}, {p})[0]), (std::vector<float>{1, 0, -2}));
  const Tensor none = Tensor::from(std::vector<float>{kNaN, kNaN, kNaN}, {3, 1}, *device_);
  EXPECT_EQ(ops::regression_loss(p, none, ops::Loss::huber).item(), 0);
}

TEST_F(OpValues, CrossEntropyOfAnyLogitIsFinite) {
  const Variable z = parameter({1000, -1000, 1000, -1000, 0, 5}, {6, 1});
  const Tensor t = Tensor::from(std::vector<float>{1, 0, 0, 1, 0.5, kNaN}, {6, 1}, *device_);
  const Variable loss = ops::regression_loss(z, t, ops::Loss::bce, 0.5);
  EXPECT_FLOAT_EQ(static_cast<float>(loss.item()), 0.5f * (2000 + std::log(2.0f)));
  EXPECT_EQ(values(autograd::grad({loss}, {z})[0]), (std::vector<float>{0, 0, 0.5f, -0.5f, 0, 0}));
}

}  // namespace
}  // namespace moiety
