// SPDX-License-Identifier: Apache-2.0
#include "autograd/engine.h"

#include <gtest/gtest.h>

#include <thread>

#include "autograd/grad_mode.h"
#include "autograd/node.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"

namespace moiety {
namespace {

using autograd::grad;
using autograd::NoGrad;

class Engine : public ::testing::Test {
 protected:
  Variable parameter(const std::vector<double>& values) {
    return Variable(Tensor::from(values, {static_cast<std::int64_t>(values.size())}, *device_),
                    /*requires_grad=*/true);
  }
  Variable constant(const std::vector<double>& values) { return parameter(values).detach(); }
  static std::vector<double> values(const Variable& v) { return v.data().to_vector<double>(); }

  std::unique_ptr<Device> device_ = make_cpu_device(1);
};

TEST_F(Engine, ProductRule) {
  const Variable x = parameter({1, 2, 3});
  const Variable y = parameter({4, 5, 6});
  const Variables grads = grad({ops::sum(ops::mul(x, y))}, {x, y});
  EXPECT_EQ(values(grads[0]), (std::vector<double>{4, 5, 6}));
  EXPECT_EQ(values(grads[1]), (std::vector<double>{1, 2, 3}));
}

TEST_F(Engine, SharedSubexpressionsAddUp) {
  const Variable x = parameter({3});
  const Variable y = ops::mul(x, x);
  const Variable z = ops::add(ops::mul(y, y), y);  // x^4 + x^2
  EXPECT_EQ(values(grad({z}, {x})[0]), (std::vector<double>{4 * 27 + 6}));
}

TEST_F(Engine, SameInputTwiceGivesSameGradientTwice) {
  const Variable x = parameter({3});
  const Variables grads = grad({ops::square(x)}, {x, x});
  EXPECT_EQ(values(grads[0]), (std::vector<double>{6}));
  EXPECT_EQ(values(grads[1]), (std::vector<double>{6}));
}

TEST_F(Engine, SeveralOutputsAndGivenGradients) {
  const Variable x = parameter({1, 2});
  const Variables grads =
      grad({ops::square(x), ops::neg(x)}, {x}, {constant({1, 10}), constant({100, 1000})});
  EXPECT_EQ(values(grads[0]), (std::vector<double>{2 - 100, 40 - 1000}));
}

TEST_F(Engine, InputsMayBeIntermediateResults) {
  const Variable x = parameter({2});
  const Variable y = ops::square(x);
  const Variables grads = grad({ops::square(y)}, {y, x});
  EXPECT_EQ(values(grads[0]), (std::vector<double>{8}));
  EXPECT_EQ(values(grads[1]), (std::vector<double>{32}));
}

TEST_F(Engine, OutputMayBeItsOwnInput) {
  const Variable x = parameter({2});
  EXPECT_EQ(values(grad({x}, {x})[0]), (std::vector<double>{1}));
  const Variable y = ops::square(x);
  EXPECT_EQ(values(grad({y}, {y})[0]), (std::vector<double>{1}));
}

TEST_F(Engine, GradientsOfGradients) {
  const Variable x = parameter({2});
  const Variable y = ops::mul(ops::square(x), x);  // x^3
  const Variable first = grad({y}, {x}, {}, {.create_graph = true})[0];
  const Variable second = grad({first}, {x}, {}, {.create_graph = true})[0];
  const Variable third = grad({second}, {x})[0];
  EXPECT_EQ(values(first), (std::vector<double>{12}));
  EXPECT_EQ(values(second), (std::vector<double>{12}));
  EXPECT_EQ(values(third), (std::vector<double>{6}));
}

TEST_F(Engine, WithoutCreateGraphGradientsAreConstants) {
  const Variable x = parameter({2});
  EXPECT_FALSE(grad({ops::square(x)}, {x})[0].requires_grad());
  EXPECT_TRUE(grad({ops::square(x)}, {x}, {}, {.create_graph = true})[0].requires_grad());
}

TEST_F(Engine, UnusedInputIsAnErrorUnlessAllowed) {
  const Variable x = parameter({2});
  const Variable unused = parameter({5});
  EXPECT_THROW(grad({ops::square(x)}, {x, unused}), Error);
  const Variables grads = grad({ops::square(x)}, {x, unused}, {}, {.allow_unused = true});
  EXPECT_TRUE(grads[0].defined());
  EXPECT_FALSE(grads[1].defined());
}

TEST_F(Engine, ConstantInputIsAnError) {
  const Variable x = parameter({2});
  EXPECT_THROW(grad({ops::square(x)}, {constant({1})}), Error);
}

TEST_F(Engine, OutputOfSeveralElementsNeedsGradOutput) {
  const Variable x = parameter({1, 2});
  EXPECT_THROW(grad({ops::square(x)}, {x}), ShapeError);
  EXPECT_THROW(grad({ops::square(x)}, {x}, {constant({1, 2, 3})}), ShapeError);
}

TEST_F(Engine, GraphIsFreedUnlessRetained) {
  const Variable x = parameter({2});
  const Variable y = ops::square(x);
  EXPECT_EQ(values(grad({y}, {x}, {}, {.retain_graph = true})[0]), (std::vector<double>{4}));
  EXPECT_EQ(values(grad({y}, {x})[0]), (std::vector<double>{4}));
  try {
    grad({y}, {x});
    FAIL() << "the graph was freed";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("retain_graph"), std::string::npos) << error.what();
  }
}

TEST_F(Engine, NoGradRecordsNothing) {
  const Variable x = parameter({2});
  {
    const NoGrad no_grad;
    EXPECT_FALSE(ops::square(x).requires_grad());
  }
  EXPECT_TRUE(ops::square(x).requires_grad());
}

TEST_F(Engine, DetachStopsGradients) {
  const Variable x = parameter({3});
  EXPECT_EQ(values(grad({ops::mul(x, x.detach())}, {x})[0]), (std::vector<double>{3}));
}

TEST_F(Engine, BackwardAddsIntoBuffers) {
  const Variable x = parameter({1, 2});
  const Variable unused = parameter({7});
  const std::vector<Variable> parameters{x, unused};
  const std::vector<Tensor> into{Tensor::from(std::vector<double>{10, 20}, {2}, *device_),
                                 Tensor::from(std::vector<double>{5}, {1}, *device_)};
  autograd::backward(ops::sum(ops::square(x)), parameters, into);
  EXPECT_EQ(into[0].to_vector<double>(), (std::vector<double>{12, 24}));
  EXPECT_EQ(into[1].to_vector<double>(), (std::vector<double>{5}));
}

/// The rule of linear() adds to the buffers itself.
TEST_F(Engine, BackwardAddsWeightsIntoBuffers) {
  const Variable x = parameter({1, 2}).detach();
  const Variable weight(Tensor::from(std::vector<double>{3, 4}, {1, 2}, *device_), true);
  const auto loss = [&] {
    const Variable rows = ops::reshape(x, {1, 2});
    const Variable once = ops::linear(rows, weight, {});                // 11
    const Variable twice = ops::linear(ops::square(rows), weight, {});  // 19
    return ops::sum(ops::add(ops::mul(once, once), ops::affine(twice, 10)));
  };
  const std::vector<double> wanted{2 * 11 * 1 + 10 * 1, 2 * 11 * 2 + 10 * 4};
  const auto buffer = [&] { return Tensor::from(std::vector<double>{100, 200}, {1, 2}, *device_); };
  const std::vector<double> added{100 + wanted[0], 200 + wanted[1]};
  const std::vector<Variable> one{weight};
  const std::vector<Tensor> into{buffer()};
  autograd::backward(loss(), one, into);
  EXPECT_EQ(into[0].to_vector<double>(), added);
  EXPECT_EQ(values(grad({loss()}, {weight})[0]), wanted);
  const std::vector<Variable> same{weight, weight};
  const std::vector<Tensor> both{buffer(), buffer()};
  autograd::backward(loss(), same, both);
  EXPECT_EQ(both[0].to_vector<double>(), added);
  EXPECT_EQ(both[1].to_vector<double>(), added);
}

/// Also those that were cast for the product: 257 and 514 are no numbers of bf16.
TEST_F(Engine, BackwardAddsCastWeightsIntoBuffersUnrounded) {
  const Variable weight(Tensor::from(std::vector<float>{3}, {1, 1}, *device_), true);
  const Variable rows(Tensor::from(std::vector<float>(257, 1), {257, 1}, *device_));
  const Variable x = ops::cast(rows, DType::bf16);
  const Variable used = ops::cast(weight, DType::bf16);
  const Variable y = ops::cast(ops::linear(x, used, {}), DType::f32);
  const Variable loss = ops::sum(ops::add(y, ops::cast(ops::linear(x, used, {}), DType::f32)));
  const std::vector<Variable> parameters{weight};
  const std::vector<Tensor> into{Tensor::from(std::vector<float>{0.5}, {1, 1}, *device_)};
  autograd::backward(loss, parameters, into);
  EXPECT_EQ(into[0].to_vector<float>(), (std::vector<float>{514.5}));
}

TEST_F(Engine, LongChainsNeitherRecurseForwardNorBackwardNorInDestruction) {
  const Variable x = parameter({1});
  {
    Variable y = x;
    for (int i = 0; i < 100000; ++i) y = ops::affine(y, 1.0, 1.0);
    EXPECT_EQ(y.item(), 100001);
    EXPECT_EQ(values(grad({y}, {x})[0]), (std::vector<double>{1}));
  }
  {
    Variable y = x;
    for (int i = 0; i < 100000; ++i) y = ops::mul(y, x);  // saves its inputs; never differentiated
  }
  {
    Variable y = x;
    for (int i = 0; i < 20000; ++i) y = ops::affine(y, 1.0);
    const Variable g = grad({ops::square(y)}, {x}, {}, {.create_graph = true})[0];
    EXPECT_EQ(g.item(), 2);
  }
}

TEST_F(Engine, ThreadsDifferentiateGraphsThatShareParameters) {
  const Variable x = parameter({1, 2, 3});
  std::vector<std::vector<double>> results(2);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < results.size(); ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 200; ++i) {
          const Variable y = ops::mul(ops::square(x), ops::affine(x, static_cast<double>(t + 1)));
          results[t] = values(grad({ops::sum(y)}, {x})[0]);
        }
      });
    }
  }
  EXPECT_EQ(results[0], (std::vector<double>{3, 12, 27}));
  EXPECT_EQ(results[1], (std::vector<double>{6, 24, 54}));
}

TEST_F(Engine, NothingLeaks) {
  const auto in_use = [&] { return device_->allocator().stats().bytes_in_use; };
  const std::size_t before = in_use();
  {
    const Variable x = parameter({1, 2, 3});
    const Variable y = ops::softmax(ops::tanh(ops::mul(x, ops::exp(x))));
    const Variable g = grad({ops::sum(ops::square(y))}, {x}, {}, {.create_graph = true})[0];
    grad({ops::sum(g)}, {x});
    grad({ops::sum(ops::sqrt(ops::square(x)))}, {x});
    EXPECT_GT(in_use(), before);
  }
  EXPECT_EQ(in_use(), before);
}

TEST_F(Engine, BackwardFreesSavedResultsWhileTheOutputLives) {
  const Variable x = Variable(Tensor::zeros({1000}, DType::f64, *device_), true);
  const std::size_t before = device_->allocator().stats().bytes_in_use;
  const Variable y = ops::sum(ops::exp(ops::exp(x)));
  grad({y}, {x});
  EXPECT_LT(device_->allocator().stats().bytes_in_use, before + 1000);
}

TEST_F(Engine, RuleReadingWhatWasNotSavedIsAnError) {
  const Variable x = parameter({1});
  const Variable y = autograd::record(
      "careless", {x}, x.data(), {},
      [](const autograd::RuleContext& c) -> Variables { return {ops::mul(c.grad(), c.input(0))}; });
  EXPECT_THROW(grad({y}, {x}), Error);
}

TEST_F(Engine, RuleOfWrongShapeIsAnError) {
  const Variable x = parameter({1, 2});
  const Variable y = autograd::record(
      "careless", {x}, x.data(), {},
      [](const autograd::RuleContext& c) -> Variables { return {ops::sum(c.grad())}; });
  EXPECT_THROW(grad({ops::sum(y)}, {x}), Error);
}

TEST_F(Engine, IntegersHaveNoGradients) {
  EXPECT_THROW(Variable(Tensor::zeros({2}, DType::i32, *device_), true), DTypeError);
}

}  // namespace
}  // namespace moiety
