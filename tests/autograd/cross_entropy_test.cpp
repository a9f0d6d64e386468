// SPDX-License-Identifier: Apache-2.0
#include "autograd/ops/cross_entropy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "autograd/engine.h"
#include "autograd/gradcheck.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/matmul.h"
#include "support/devices.h"
#include "support/error_text.h"
#include "tensor/rng.h"

namespace moiety {
namespace {

using Numbers = std::vector<double>;

class CrossEntropy : public ::testing::TestWithParam<std::string> {
 protected:
  Variable values(const Shape& shape, std::uint64_t stream, DType dtype = DType::f64,
                  double size = 1) {
    Numbers out;
    for (std::int64_t i = 0; i < shape.numel(); ++i) {
      out.push_back(size * (2 * random_uniform({6, stream}, static_cast<std::uint64_t>(i)) - 1));
    }
    const Tensor exact = Tensor::from(out, shape, *device_);
    return Variable(ops::cast(Variable(exact), dtype).data(), true);
  }
  /// Every third row has none.
  Tensor labels(std::int64_t rows, std::int64_t classes) {
    std::vector<std::int32_t> out;
    for (std::int64_t n = 0; n < rows; ++n) {
      out.push_back(n % 3 == 2 ? -100 : static_cast<std::int32_t>(7 * n % classes));
    }
    return Tensor::from(out, {rows}, *device_);
  }

  std::unique_ptr<Device> device_ = make_device(GetParam(), 2);
};

double reference(const Numbers& scores, const std::vector<std::int32_t>& target) {
  const std::size_t classes = scores.size() / target.size();
  double total = 0;
  for (std::size_t n = 0; n < target.size(); ++n) {
    if (target[n] < 0) continue;
    const double* row = scores.data() + n * classes;
    const double top = *std::max_element(row, row + classes);
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) sum += std::exp(row[c] - top);
    total += top + std::log(sum) - row[target[n]];
  }
  return total;
}

TEST_P(CrossEntropy, MatchesItsDefinition) {
  for (const auto& [rows, classes] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1}, {4, 2}, {31, 33}, {32, 600}, {33, 1000}, {3, 9000}}) {
    const Tensor target = labels(rows, classes);
    const Variable scores = values({rows, classes}, 1, DType::f64, 20);
    const double expected =
        reference(scores.data().to_vector<double>(), target.to_vector<std::int32_t>());
    EXPECT_NEAR(ops::cross_entropy(scores, target).item(), expected, 1e-10 * (1 + expected));
    const Variable single = values({rows, classes}, 1, DType::f32, 20);
    EXPECT_NEAR(ops::cross_entropy(single, target).item(), expected, 1e-5 * (1 + expected));
  }
}

TEST_P(CrossEntropy, GradientsMatchDifferences) {
  const Tensor target = labels(5, 7);
  EXPECT_EQ(autograd::gradcheck(
                [&](const Variables& x) { return Variables{ops::cross_entropy(x[0], target)}; },
                {values({5, 7}, 1, DType::f64, 3)}),
            "");
  EXPECT_EQ(autograd::gradcheck(
                [&](const Variables& x) {
                  return Variables{ops::linear_cross_entropy(x[0], x[1], x[2], target)};
                },
                {values({5, 4}, 1), values({7, 4}, 2), values({7}, 3)}),
            "");
}

/// Of more rows than exist at a time.
TEST_P(CrossEntropy, ScoresInPartsAreTheSame) {
  const std::int64_t rows = 1100;
  const Tensor target = labels(rows, 9);
  const Variables x = {values({rows, 4}, 1), values({9, 4}, 2), values({9}, 3)};
  const Variable whole = ops::cross_entropy(ops::linear(x[0], x[1], x[2]), target);
  const Variable parts = ops::linear_cross_entropy(x[0], x[1], x[2], target);
  EXPECT_NEAR(whole.item(), parts.item(), 1e-9 * whole.item());
  const Variable weight(Tensor::from(Numbers{0.25}, {}, *device_));
  const Variables expected = autograd::grad({whole}, x, {weight});
  const Variables got = autograd::grad({parts}, x, {weight});
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Numbers a = expected[i].data().to_vector<double>();
    const Numbers b = got[i].data().to_vector<double>();
    for (std::size_t e = 0; e < a.size(); ++e) ASSERT_NEAR(a[e], b[e], 1e-11) << i;
  }
}

TEST_P(CrossEntropy, TakesWhatNeedsNoGradient) {
  const Tensor target = labels(4, 9);
  const Variable x = values({4, 3}, 1);
  const Variable weight = values({9, 3}, 2).detach();
  const Variable loss = ops::linear_cross_entropy(x, weight, {}, target);
  EXPECT_EQ(autograd::grad({loss}, {x})[0].shape(), x.shape());
  EXPECT_FALSE(ops::linear_cross_entropy(x.detach(), weight, {}, target).requires_grad());
}

TEST_P(CrossEntropy, NamesWhatDoesNotFit) {
  const Variable scores = values({2, 3}, 1);
  EXPECT_THROW(ops::cross_entropy(scores, labels(3, 3)), ShapeError);
  EXPECT_THROW(ops::cross_entropy(scores, Tensor::zeros({2}, DType::f32, *device_)), DTypeError);
  const Tensor beyond = Tensor::from(std::vector<std::int32_t>{0, 3}, {2}, *device_);
  EXPECT_TRUE(testing::says(testing::error_text([&] { ops::cross_entropy(scores, beyond).item(); }),
                            {"cross_entropy: target[1] is 3"}));
  EXPECT_TRUE(testing::says(testing::error_text([&] {
                              autograd::grad({ops::cross_entropy(scores, labels(2, 3))}, {scores},
                                             {}, {.create_graph = true});
                            }),
                            {"no second derivative"}));
}

TEST_P(CrossEntropy, HalvesAreClose) {
  const Tensor target = labels(40, 70);
  const double expected = ops::cross_entropy(values({40, 70}, 1, DType::f32, 4), target).item();
  for (const DType dtype : {DType::bf16, DType::f16}) {
    EXPECT_NEAR(ops::cross_entropy(values({40, 70}, 1, dtype, 4), target).item(), expected,
                0.01 * expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, CrossEntropy, ::testing::ValuesIn(testing::devices()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace moiety
