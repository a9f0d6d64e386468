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
  std::vector<double> out;
  if (t.dtype() == DType::bf16) {
    for (const BFloat16 x : t.to_vector<BFloat16>()) out.push_back(to_float(x));
  } else if (t.dtype() == DType::f16) {
    for (const Float16 x : t.to_vector<Float16>()) out.push_back(to_float(x));
  } else {
    for (const float x : t.to_vector<float>()) out.push_back(x);
  }
  return out;
}

double tolerance_of(const OpCase& c, DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 1e-12;
    case DType::bf16:
      return std::max(c.tolerance, 0x1p-7);  // an ulp or two
    case DType::f16:
      return std::max(c.tolerance, 0x1p-10);
    default:
      return c.tolerance;
  }
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

Tensor tensor_of(const std::vector<double>& values, const Shape& shape, DType dtype,
                 Device& device) {
  const auto rounded = [&]<class T>(const auto& convert) {
    std::vector<T> out;
    for (const double x : values) out.push_back(convert(x));
    return Tensor::from(out, shape, device);
  };
  switch (dtype) {
    case DType::f64:
      return Tensor::from(values, shape, device);
    case DType::bf16:
      return rounded.template operator()<BFloat16>(
          [](double x) { return to_bfloat16(static_cast<float>(x)); });
    case DType::f16:
      return rounded.template operator()<Float16>(
          [](double x) { return to_float16(static_cast<float>(x)); });
    default:
      return rounded.template operator()<float>([](double x) { return static_cast<float>(x); });
  }
}

Variables make_inputs(const OpCase& c, DType dtype, Device& device, bool requires_grad) {
  Variables out;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const auto n = static_cast<std::size_t>(c.inputs[i].numel());
    std::vector<double> values(n);
    for (std::size_t k = 0; k < n; ++k) {
      values[k] = c.low + (c.high - c.low) * random_uniform({7, i}, k);
    }
    out.emplace_back(tensor_of(values, c.inputs[i], dtype, device),
                     requires_grad && c.differentiable);
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
  const double tolerance = tolerance_of(c, dtype);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto got = values_of(outputs[i].data());
    if (got.size() != expected[i].size())
      return concat("output ", i, " has ", got.size(), " elements, expected ", expected[i].size());
    double scale = 1e-30;
    for (double e : expected[i]) scale = std::max(scale, std::fabs(e));
    for (std::size_t k = 0; k < got.size(); ++k) {
      constexpr double kLargestF16 = 65504;
      if (dtype == DType::f16 && std::fabs(expected[i][k]) > kLargestF16 && std::isinf(got[k])) {
        continue;
      }
      if (!(std::fabs(got[k] - expected[i][k]) <= tolerance * scale)) {
        return concat("output ", i, ", element ", k, ": ", got[k], ", expected ", expected[i][k]);
      }
    }
  }
  return "";
}

namespace {

/// Rules may take other ways where a graph is recorded; second derivatives are those of that way.
std::string compare_recorded_gradients(const OpCase& c, const Variables& inputs) {
  const auto gradients = [&](bool recorded) {
    const Variables outputs = c.run(inputs);
    Variables directions;
    for (const Variable& v : outputs) directions.push_back(v.detach());
    return autograd::grad(outputs, inputs, directions,
                          {.create_graph = recorded, .allow_unused = true});
  };
  const Variables plain = gradients(false);
  const Variables recorded = gradients(true);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!plain[i].defined() && !recorded[i].defined()) continue;
    if (!plain[i].defined() || !recorded[i].defined()) return concat("gradient ", i, " is missing");
    const auto a = values_of(plain[i].data());
    const auto b = values_of(recorded[i].data());
    double scale = 1;
    for (const double x : a) scale = std::max(scale, std::fabs(x));
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (!(std::fabs(a[k] - b[k]) <= 1e-9 * scale)) {
        return concat("gradient ", i, ", element ", k, ": ", a[k], ", recorded ", b[k]);
      }
    }
  }
  return "";
}

}  // namespace

std::string check_gradients(const OpCase& c, Device& device) {
  if (!c.differentiable) return "";
  const Variables inputs = make_inputs(c, DType::f64, device, true);
  if (auto problem = autograd::gradcheck(c.run, inputs); !problem.empty()) {
    return "first derivative, " + problem;
  }
  if (auto problem = autograd::gradgradcheck(c.run, inputs); !problem.empty()) {
    return "second derivative, " + problem;
  }
  return compare_recorded_gradients(c, inputs);
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
