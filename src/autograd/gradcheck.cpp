// SPDX-License-Identifier: Apache-2.0
#include "autograd/gradcheck.h"

#include <cmath>

#include "autograd/engine.h"
#include "autograd/grad_mode.h"
#include "tensor/rng.h"

namespace moiety::autograd {
namespace {

/// Values in [-1, 1) that no structured error cancels against.
Variable random_direction(const Variable& like, RngKey key) {
  std::vector<double> values(static_cast<std::size_t>(like.numel()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 2 * random_uniform(key, i) - 1;
  return Variable(Tensor::from(values, like.shape(), like.device()));
}

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

std::vector<double> values_of(const Variable& v) { return v.data().to_vector<double>(); }

std::int64_t elements(const Variables& variables) {
  std::int64_t count = 0;
  for (const Variable& v : variables) count += v.numel();
  return count;
}

/// sum over outputs of output . direction, with other values in input `which`.
double value_at(const Function& f, const Variables& inputs, const Variables& directions,
                std::size_t which, const std::vector<double>& values) {
  Variables moved = inputs;
  moved[which] = Variable(Tensor::from(values, inputs[which].shape(), inputs[which].device()),
                          inputs[which].requires_grad());
  const Variables outputs = f(moved);
  double sum = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    sum += dot(values_of(outputs[i]), values_of(directions[i]));
  }
  return sum;
}

/// The gradient of one input, or its component along one direction, both ways.
struct Comparison {
  std::vector<double> analytic;
  std::vector<double> numeric;
};

std::string compare(const Comparison& c, std::size_t which, const char* unit,
                    const GradcheckOptions& options) {
  double largest = 0;
  for (double n : c.numeric) largest = std::max(largest, std::fabs(n));
  for (std::size_t i = 0; i < c.numeric.size(); ++i) {
    const double error = std::fabs(c.analytic[i] - c.numeric[i]);
    if (!(error <= options.absolute + options.relative * std::max(largest, 1.0))) {
      return concat("input ", which, ", ", unit, " ", i, ": gradient ", c.analytic[i],
                    ", central difference ", c.numeric[i]);
    }
  }
  return "";
}

}  // namespace

std::string gradcheck(const Function& f, const Variables& inputs, GradcheckOptions options) {
  const Variables outputs = f(inputs);
  Variables directions;
  Variables differentiable;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    directions.push_back(random_direction(outputs[i], {options.seed, i}));
  }
  for (const Variable& input : inputs) {
    if (input.requires_grad()) differentiable.push_back(input);
  }
  const Variables grads = grad(outputs, differentiable, directions, {.allow_unused = true});
  const bool by_element = elements(differentiable) + elements(outputs) <= options.most_elements;
  std::size_t next = 0;
  for (std::size_t which = 0; which < inputs.size(); ++which) {
    if (!inputs[which].requires_grad()) continue;
    const Variable& g = grads[next++];
    const std::vector<double> at = values_of(inputs[which]);
    const std::vector<double> gradient =
        g.defined() ? values_of(g) : std::vector<double>(at.size(), 0.0);
    Comparison comparison;
    // Not under NoGrad: f may itself differentiate (gradgradcheck).
    const auto add = [&](const std::vector<double>& way) {
      std::vector<double> up = at;
      std::vector<double> down = at;
      for (std::size_t i = 0; i < at.size(); ++i) {
        up[i] += options.step * way[i];
        down[i] -= options.step * way[i];
      }
      const double difference =
          value_at(f, inputs, directions, which, up) - value_at(f, inputs, directions, which, down);
      comparison.analytic.push_back(dot(gradient, way));
      comparison.numeric.push_back(difference / (2 * options.step));
    };
    if (by_element) {
      std::vector<double> way(at.size(), 0.0);
      for (double& component : way) {
        component = 1;
        add(way);
        component = 0;
      }
    } else {
      add(values_of(random_direction(inputs[which], {options.seed + 2, which})));
    }
    const char* unit = by_element ? "element" : "direction";
    if (auto problem = compare(comparison, which, unit, options); !problem.empty()) {
      return problem;
    }
  }
  return "";
}

std::string gradgradcheck(const Function& f, const Variables& inputs, GradcheckOptions options) {
  const std::size_t input_count = inputs.size();
  Variables all = inputs;
  const Variables outputs = f(inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Variable direction = random_direction(outputs[i], {options.seed + 1, i});
    all.push_back(Variable(direction.data(), /*requires_grad=*/true));
  }
  const Function gradient = [&f, input_count](const Variables& args) {
    const Variables x(args.begin(), args.begin() + static_cast<std::ptrdiff_t>(input_count));
    const Variables directions(args.begin() + static_cast<std::ptrdiff_t>(input_count), args.end());
    Variables wanted;
    for (const Variable& v : x) {
      if (v.requires_grad()) wanted.push_back(v);
    }
    Variables grads;
    for (Variable& g :
         grad(f(x), wanted, directions, {.create_graph = true, .allow_unused = true})) {
      if (g.defined()) grads.push_back(std::move(g));
    }
    return grads;
  };
  return gradcheck(gradient, all, options);
}

}  // namespace moiety::autograd
