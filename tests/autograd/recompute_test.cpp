// SPDX-License-Identifier: Apache-2.0
#include "autograd/ops/recompute.h"

#include <gtest/gtest.h>

#include "autograd/engine.h"
#include "autograd/grad_mode.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/matmul.h"
#include "support/error_text.h"
#include "support/op_case.h"
#include "tensor/rng.h"

namespace moiety {
namespace {

class Recompute : public ::testing::Test {
 protected:
  Variable values(const Shape& shape, std::uint64_t stream, bool requires_grad = true) {
    std::vector<double> x;
    for (std::int64_t i = 0; i < shape.numel(); ++i) {
      x.push_back(2 * random_uniform({1, stream}, static_cast<std::uint64_t>(i)) - 1);
    }
    return Variable(testing::tensor_of(x, shape, DType::f32, *device_), requires_grad);
  }
  /// tanh(x W) W', twice in a row, each time kept or computed again.
  Variable run(const Variable& x, const Variables& weights, bool again) {
    Variable h = x;
    for (int block = 0; block < 2; ++block) {
      const auto f = [this, weights](const Variable& v) {
        ++calls_;
        const Variable inner = ops::tanh(ops::matmul(v, weights[0], false, false));
        return ops::add(v, ops::matmul(inner, weights[1], false, false));
      };
      if (!again) {
        h = f(h);
        continue;
      }
      Tensor value;
      {
        const autograd::NoGrad no_grad;
        value = f(h.detach()).data();
      }
      h = ops::recompute(value, f, h, weights);
    }
    return ops::mul(h, h);
  }

  std::unique_ptr<Device> device_ = make_cpu_device(1);
  int calls_ = 0;
};

TEST_F(Recompute, GradientsHaveTheBitsOfThoseOfWhatIsKept) {
  const Variable x = values({7, 5}, 1);
  const Variables weights = {values({5, 11}, 2), values({11, 5}, 3)};
  const Variable seed = values({7, 5}, 4, false);
  const auto gradients = [&](bool again) {
    const Variable out = run(x, weights, again);
    std::vector<std::vector<float>> all = {out.data().to_vector<float>()};
    for (const Variable& g : autograd::grad({out}, {x, weights[0], weights[1]}, {seed})) {
      all.push_back(g.data().to_vector<float>());
    }
    return all;
  };
  const auto kept = gradients(false);
  calls_ = 0;
  EXPECT_EQ(gradients(true), kept);
  EXPECT_EQ(calls_, 4);  // each block forward, and again in the backward pass
}

TEST_F(Recompute, ConstantInputsAndParametersWantNoGradient) {
  const Variable x = values({3, 5}, 1, false);
  const Variables weights = {values({5, 4}, 2), values({4, 5}, 3, false)};
  const Variable out = run(x, weights, true);
  const Variables again = autograd::grad({out}, {weights[0]}, {values({3, 5}, 4, false)});
  const Variables kept =
      autograd::grad({run(x, weights, false)}, {weights[0]}, {values({3, 5}, 4, false)});
  EXPECT_EQ(again[0].data().to_vector<float>(), kept[0].data().to_vector<float>());
}

TEST_F(Recompute, HasNoSecondDerivative) {
  const Variable x = values({3, 5}, 1);
  const Variable out = run(x, {values({5, 4}, 2), values({4, 5}, 3)}, true);
  EXPECT_TRUE(testing::says(
      testing::error_text([&] {
        autograd::grad({out}, {x}, {values({3, 5}, 4, false)}, {.create_graph = true});
      }),
      {"no second derivative", "train.recompute"}));
}

}  // namespace
}  // namespace moiety
