// SPDX-License-Identifier: Apache-2.0
#include "support/op_case.h"

#include <cmath>
#include <ostream>

#include "autograd/engine.h"
#include "autograd/grad_mode.h"
#include "autograd/gradcheck.h"
#include "kernels/elementwise.h"
#include "tensor/rng.h"

namespace moiety::testing {
namespace {

std::vector<double> values_of(const Tensor& t) {
  if (t.dtype() == DType::f64) return t.to_vector<double>();
  const auto values = t.to_vector<float>();
  return {values.begin(), values.end()};
}

std::int64_t elements(const Variables& variables) {
  std::int64_t count = 0;
  for (const Variable& v : variables) count += v.numel();
  return count;
}

/// The same elements with the last two dimensions swapped in memory.
Variable strided(const Variable& v) {
  if (v.ndim() < 2) return v;
  const Tensor turned = v.data().transpose(-1, -2);
  const Tensor swapped = Tensor::empty(turned.shape(), turned.dtype(), turned.device());
  kernels::copy(turned.device().stream(), turned, swapped);
  return Variable(swapped.transpose(-1, -2), v.requires_grad());
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const OpCase& c) { return out << c.name; }

Variables make_inputs(const OpCase& c, DType dtype, Device& device, bool requires_grad) {
  Variables out;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const auto n = static_cast<std::size_t>(c.inputs[i].numel());
    std::vector<double> values(n);
    for (std::size_t k = 0; k < n; ++k) {
      values[k] = c.low + (c.high - c.low) * random_uniform({7, i}, k);
    }
    const Tensor t =
        dtype == DType::f64
            ? Tensor::from(values, c.inputs[i], device)
            : Tensor::from(std::vector<float>(values.begin(), values.end()), c.inputs[i], device);
    out.emplace_back(t, requires_grad && c.differentiable);
  }
  return out;
}

std::string check_against_reference(const OpCase& c, DType dtype, Device& device) {
  const autograd::NoGrad no_grad;
  const Variables inputs = make_inputs(c, dtype, device, false);
  std::vector<std::vector<double>> plain;
  for (const Variable& v : inputs) plain.push_back(values_of(v.data()));
  const Variables outputs = c.run(inputs);
  const auto expected = c.reference(plain);
  if (outputs.size() != expected.size()) return "wrong number of outputs";
  const double tolerance = dtype == DType::f64 ? 1e-12 : c.tolerance;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto got = values_of(outputs[i].data());
    if (got.size() != expected[i].size())
      return concat("output ", i, " has ", got.size(), " elements, expected ", expected[i].size());
    double scale = 1e-30;
    for (double e : expected[i]) scale = std::max(scale, std::fabs(e));
    for (std::size_t k = 0; k < got.size(); ++k) {
      if (!(std::fabs(got[k] - expected[i][k]) <= tolerance * scale)) {
        return concat("output ", i, ", element ", k, ": ", got[k], ", expected ", expected[i][k]);
      }
    }
  }
  return "";
}

std::string check_gradients(const OpCase& c, Device& device) {
  if (!c.differentiable) return "";
  constexpr std::int64_t kMaxElements = 200;  // the cost grows with the square
  const Variables inputs = make_inputs(c, DType::f64, device, true);
  if (elements(inputs) + elements(c.run(inputs)) > kMaxElements) return "";
  if (auto problem = autograd::gradcheck(c.run, inputs); !problem.empty()) {
    return "first derivative, " + problem;
  }
  if (auto problem = autograd::gradgradcheck(c.run, inputs); !problem.empty()) {
    return "second derivative, " + problem;
  }
  return "";
}

std::string check_strided_inputs(const OpCase& c, Device& device) {
  const Variables inputs = make_inputs(c, DType::f32, device, true);
  Variables swapped;
  for (const Variable& v : inputs) swapped.push_back(strided(v));
  const auto run = [&](const Variables& in) {
    const Variables outputs = c.run(in);
    std::vector<std::vector<double>> results;
    for (const Variable& v : outputs) results.push_back(values_of(v.data()));
    if (!c.differentiable) return results;
    Variables directions;
    for (const Variable& v : outputs) directions.push_back(strided(v.detach()));
    for (const Variable& g : autograd::grad(outputs, in, directions, {.allow_unused = true})) {
      results.push_back(g.defined() ? values_of(g.data()) : std::vector<double>{});
    }
    return results;
  };
  return run(swapped) == run(inputs) ? "" : "strided inputs give other results";
}

namespace {

/// Outputs and gradients in f32, with the outputs as their own gradients.
std::vector<std::vector<double>> results_in_f32(const OpCase& c, Device& device) {
  const Variables inputs = make_inputs(c, DType::f32, device, true);
  const Variables outputs = c.run(inputs);
  std::vector<std::vector<double>> results;
  for (const Variable& v : outputs) results.push_back(values_of(v.data()));
  if (!c.differentiable) return results;
  Variables directions;
  for (const Variable& v : outputs) directions.push_back(v.detach());
  for (const Variable& g : autograd::grad(outputs, inputs, directions, {.allow_unused = true})) {
    results.push_back(g.defined() ? values_of(g.data()) : std::vector<double>{});
  }
  return results;
}

}  // namespace

std::string check_thread_invariance(const OpCase& c) {
  const auto one = make_cpu_device(1);
  const auto three = make_cpu_device(3);
  return results_in_f32(c, *one) == results_in_f32(c, *three)
             ? ""
             : "1 and 3 threads give different bits";
}

std::string check_repeats(const OpCase& c, Device& device) {
  return results_in_f32(c, device) == results_in_f32(c, device)
             ? ""
             : "a second run gives different bits";
}

}  // namespace moiety::testing
