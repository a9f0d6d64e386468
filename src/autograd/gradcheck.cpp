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

double dot(const Variable& a, const Variable& b) {
  const auto x = a.data().to_vector<double>();
  const auto y = b.data().to_vector<double>();
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

/// sum over outputs of output . direction, with element `at` of input `which` moved by `step`.
double shifted_value(const Function& f, const Variables& inputs, const Variables& directions,
                     std::size_t which, std::size_t at, double step) {
  Variables moved = inputs;
  auto values = inputs[which].data().to_vector<double>();
  values[at] += step;
  moved[which] = Variable(Tensor::from(values, inputs[which].shape(), inputs[which].device()),
                          inputs[which].requires_grad());
  const Variables outputs = f(moved);
  double sum = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) sum += dot(outputs[i], directions[i]);
  return sum;
}

std::string compare(const std::vector<double>& analytic, const std::vector<double>& numeric,
                    std::size_t which, const GradcheckOptions& options) {
  double largest = 0;
  for (double n : numeric) largest = std::max(largest, std::fabs(n));
  for (std::size_t i = 0; i < numeric.size(); ++i) {
    const double error = std::fabs(analytic[i] - numeric[i]);
    if (!(error <= options.absolute + options.relative * std::max(largest, 1.0))) {
      return concat("input ", which, ", element ", i, ": gradient ", analytic[i],
                    ", central difference ", numeric[i]);
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
  std::size_t next = 0;
  for (std::size_t which = 0; which < inputs.size(); ++which) {
    if (!inputs[which].requires_grad()) continue;
    const Variable& g = grads[next++];
    const auto n = static_cast<std::size_t>(inputs[which].numel());
    const std::vector<double> analytic =
        g.defined() ? g.data().to_vector<double>() : std::vector<double>(n, 0.0);
    std::vector<double> numeric(n);
    for (std::size_t at = 0; at < n; ++at) {
      // Not under NoGrad: f may itself differentiate (gradgradcheck).
      const double up = shifted_value(f, inputs, directions, which, at, options.step);
      const double down = shifted_value(f, inputs, directions, which, at, -options.step);
      numeric[at] = (up - down) / (2 * options.step);
    }
    if (const auto problem = compare(analytic, numeric, which, options); !problem.empty()) {
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
