// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "autograd/ops/loss.h"
#include "support/op_case.h"
#include "tensor/rng.h"

namespace moiety::testing {
namespace {

constexpr double kScale = 0.125;
constexpr double kDelta = 0.5;

/// Targets in [-1, 1), or classes, every seventh missing.
std::vector<float> make_targets(ops::Loss loss, std::size_t count) {
  std::vector<float> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    const float value = 2 * random_uniform({5, 1}, i) - 1;
    out[i] = loss == ops::Loss::bce ? static_cast<float>(value > 0) : value;
    if (i % 7 == 3) out[i] = std::numeric_limits<float>::quiet_NaN();
  }
  return out;
}

double loss_of(ops::Loss loss, double p, double t) {
  if (loss == ops::Loss::bce) {
    const double q = 1 / (1 + std::exp(-p));
    return t > 0.5 ? -std::log(q) : -std::log(1 - q);
  }
  const double d = p - t;
  const double a = std::fabs(d);
  if (loss == ops::Loss::mse) return d * d;
  if (loss == ops::Loss::mae) return a;
  return a <= kDelta ? d * d / 2 : kDelta * (a - kDelta / 2);
}

OpCase loss_case(const std::string& name, ops::Loss loss, const Shape& shape) {
  const auto targets = make_targets(loss, static_cast<std::size_t>(shape.numel()));
  OpCase c;
  c.name = name + "_" + std::to_string(shape.numel());
  c.inputs = {shape};
  c.run = [=](const Variables& x) {
    const Tensor target = Tensor::from(targets, shape, x[0].device());
    return Variables{ops::regression_loss(x[0], target, loss, kScale, kDelta)};
  };
  c.reference = [=](const std::vector<std::vector<double>>& x) {
    double total = 0;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (!std::isnan(targets[i])) total += loss_of(loss, x[0][i], targets[i]);
    }
    return std::vector<std::vector<double>>{{kScale * total}};
  };
  return c;
}

}  // namespace

std::vector<OpCase> loss_cases() {
  std::vector<OpCase> cases;
  for (const Shape& shape : {Shape{0, 1}, Shape{1, 1}, Shape{4, 2}, Shape{31, 1}, Shape{32, 1},
                             Shape{33, 1}, Shape{500, 12}, Shape{70000, 1}}) {
    cases.push_back(loss_case("mse", ops::Loss::mse, shape));
    cases.push_back(loss_case("mae", ops::Loss::mae, shape));
    cases.push_back(loss_case("huber", ops::Loss::huber, shape));
    cases.push_back(loss_case("bce", ops::Loss::bce, shape));
  }
  return cases;
}

}  // namespace moiety::testing
