// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "autograd/ops/elementwise.h"
#include "support/op_case.h"

namespace moiety::testing {
namespace {

using Values = std::vector<double>;
using Results = std::vector<Values>;

/// "3x4", with the name in front: cases are found by it.
std::string named(const std::string& name, const std::vector<Shape>& shapes) {
  std::string out = name;
  for (const Shape& shape : shapes) {
    out += "_";
    for (int d = 0; d < shape.ndim(); ++d) out += (d ? "x" : "") + std::to_string(shape[d]);
    if (shape.ndim() == 0) out += "scalar";
  }
  return out;
}

struct Unary {
  const char* name;
  Variable (*run)(const Variable&);
  double (*reference)(double);
  double low = -2.0;
  double high = 2.0;
  bool differentiable = true;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

std::vector<Unary> unary_operations() {
  return {
      {"neg", ops::neg, [](double x) { return -x; }},
      {"abs", ops::abs, [](double x) { return std::fabs(x); }},
      {"square", ops::square, [](double x) { return x * x; }},
      {"sqrt", ops::sqrt, [](double x) { return std::sqrt(x); }, 0.2, 4.0},
      {"exp", ops::exp, [](double x) { return std::exp(x); }, -3.0, 3.0},
      {"log", ops::log, [](double x) { return std::log(x); }, 0.1, 5.0},
      {"sin", ops::sin, [](double x) { return std::sin(x); }, -4.0, 4.0},
      {"cos", ops::cos, [](double x) { return std::cos(x); }, -4.0, 4.0},
      {"relu", ops::relu, [](double x) { return std::max(x, 0.0); }},
      {"sigmoid", ops::sigmoid, sigmoid, -5.0, 5.0},
      {"tanh", ops::tanh, [](double x) { return std::tanh(x); }},
      {"silu", ops::silu, [](double x) { return x * sigmoid(x); }, -5.0, 5.0},
      {"gelu", ops::gelu, [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); },
       -4.0, 4.0},
      {"gelu_tanh", ops::gelu_tanh,
       [](double x) {
         const double u = std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x);
         return 0.5 * x * (1 + std::tanh(u));
       },
       -4.0, 4.0},
      {"softplus", ops::softplus, [](double x) { return std::log(1 + std::exp(x)); }, -5.0, 5.0},
      {"step", ops::step, [](double x) { return x > 0 ? 1.0 : 0.0; }, -1.0, 1.0, false},
      {"sign", ops::sign, [](double x) { return double(x > 0) - double(x < 0); }, -1.0, 1.0, false},
      {"affine", [](const Variable& x) { return ops::affine(x, -1.5, 0.25); },
       [](double x) { return -1.5 * x + 0.25; }},
      {"pow2", [](const Variable& x) { return ops::pow(x, 2); }, [](double x) { return x * x; }},
      {"pow3", [](const Variable& x) { return ops::pow(x, 3); },
       [](double x) { return x * x * x; }},
      {"pow0", [](const Variable& x) { return ops::pow(x, 0); }, [](double) { return 1.0; }},
      {"powm1", [](const Variable& x) { return ops::pow(x, -1); }, [](double x) { return 1 / x; },
       0.3, 2.0},
      {"powmhalf", [](const Variable& x) { return ops::pow(x, -0.5); },
       [](double x) { return 1 / std::sqrt(x); }, 0.3, 2.0},
      {"pow17", [](const Variable& x) { return ops::pow(x, 1.7); },
       [](double x) { return std::pow(x, 1.7); }, 0.3, 2.0},
  };
}

OpCase unary_case(const Unary& op, const Shape& shape) {
  OpCase c;
  c.name = named(op.name, {shape});
  c.inputs = {shape};
  c.run = [run = op.run](const Variables& x) { return Variables{run(x[0])}; };
  c.reference = [f = op.reference](const Results& x) {
    Values out;
    for (double v : x[0]) out.push_back(f(v));
    return Results{out};
  };
  c.low = op.low;
  c.high = op.high;
  c.differentiable = op.differentiable;
  return c;
}

/// Element `at` (row-major in `shape`) of an operand that broadcasts to `shape`.
double broadcast_element(const Values& values, const Shape& own, const Shape& shape,
                         std::int64_t at) {
  std::int64_t place = 0;
  std::int64_t step = 1;
  for (int d = 1; d <= shape.ndim(); ++d) {
    const std::int64_t index = at % shape[shape.ndim() - d];
    at /= shape[shape.ndim() - d];
    if (d > own.ndim()) continue;
    const std::int64_t extent = own[own.ndim() - d];
    place += (extent == 1 ? 0 : index) * step;
    step *= extent;
  }
  return values[static_cast<std::size_t>(place)];
}

struct Binary {
  const char* name;
  Variable (*run)(const Variable&, const Variable&);
  double (*reference)(double, double);
  double low = -2.0;
};

OpCase binary_case(const Binary& op, const Shape& a, const Shape& b) {
  OpCase c;
  c.name = named(op.name, {a, b});
  c.inputs = {a, b};
  c.run = [run = op.run](const Variables& x) { return Variables{run(x[0], x[1])}; };
  c.reference = [f = op.reference, a, b](const Results& x) {
    const Shape shape = broadcast_shapes(a, b);
    Values out;
    for (std::int64_t i = 0; i < shape.numel(); ++i) {
      out.push_back(f(broadcast_element(x[0], a, shape, i), broadcast_element(x[1], b, shape, i)));
    }
    return Results{out};
  };
  c.low = op.low;
  c.high = 2.0;
  return c;
}

void add_binary_cases(std::vector<OpCase>& cases) {
  const std::vector<Binary> operations{
      {"add", ops::add, [](double a, double b) { return a + b; }},
      {"sub", ops::sub, [](double a, double b) { return a - b; }},
      {"mul", ops::mul, [](double a, double b) { return a * b; }},
      {"div", ops::div, [](double a, double b) { return a / b; }, 0.5},
      {"maximum", ops::maximum, [](double a, double b) { return std::max(a, b); }},
      {"minimum", ops::minimum, [](double a, double b) { return std::min(a, b); }},
  };
  const std::vector<std::pair<Shape, Shape>> shapes{{{}, {}},
                                                    {{0}, {0}},
                                                    {{1}, {1}},
                                                    {{31}, {31}},
                                                    {{32}, {32}},
                                                    {{33}, {33}},
                                                    {{33, 32}, {32}},
                                                    {{4, 5}, {}},
                                                    {{}, {4, 5}},
                                                    {{4, 5}, {5}},
                                                    {{5}, {4, 5}},
                                                    {{4, 5}, {4, 1}},
                                                    {{4, 1}, {4, 5}},
                                                    {{4, 1}, {1, 5}},
                                                    {{2, 3, 4}, {3, 1}},
                                                    {{2, 1, 4}, {3, 1}},
                                                    {{0, 5}, {5}},
                                                    {{2, 1, 3, 2}, {4, 1, 2}},
                                                    {{40000}, {40000}},
                                                    {{700, 65}, {65}},
                                                    {{700, 65}, {700, 1}},
                                                    {{33, 1, 40}, {31, 1}}};
  for (const Binary& op : operations) {
    for (const auto& [a, b] : shapes) cases.push_back(binary_case(op, a, b));
  }
}

OpCase broadcast_to_case(const Shape& from, const Shape& to) {
  OpCase c;
  c.name = named("broadcast_to", {from, to});
  c.inputs = {from};
  c.run = [to](const Variables& x) { return Variables{ops::broadcast_to(x[0], to)}; };
  c.reference = [from, to](const Results& x) {
    Values out;
    for (std::int64_t i = 0; i < to.numel(); ++i) {
      out.push_back(broadcast_element(x[0], from, to, i));
    }
    return Results{out};
  };
  return c;
}

OpCase sum_to_case(const Shape& from, const Shape& to) {
  OpCase c;
  c.name = named("sum_to", {from, to});
  c.inputs = {from};
  c.run = [to](const Variables& x) { return Variables{ops::sum_to(x[0], to)}; };
  c.reference = [from, to](const Results& x) {
    Values numbers(static_cast<std::size_t>(to.numel()));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i);
    Values out(numbers.size(), 0.0);
    for (std::int64_t i = 0; i < from.numel(); ++i) {
      const double place = broadcast_element(numbers, to, from, i);
      out[static_cast<std::size_t>(place)] += x[0][static_cast<std::size_t>(i)];
    }
    return Results{out};
  };
  return c;
}

void add_broadcast_cases(std::vector<OpCase>& cases) {
  const std::vector<std::pair<Shape, Shape>> shapes{{{}, {3, 4}},
                                                    {{4}, {3, 4}},
                                                    {{3, 1}, {3, 4}},
                                                    {{3, 4}, {3, 4}},
                                                    {{2, 1, 3}, {2, 4, 3}},
                                                    {{1, 4, 1}, {2, 4, 3}},
                                                    {{2, 1, 3, 1}, {2, 2, 3, 2}},
                                                    {{4}, {0, 4}},
                                                    {{1}, {0}},
                                                    {{}, {1}},
                                                    {{1}, {33}},
                                                    {{31}, {33, 31}},
                                                    {{32, 1}, {32, 32}},
                                                    {{64}, {900, 64}},
                                                    {{900, 1}, {900, 64}},
                                                    {{1, 70, 1}, {33, 70, 17}},
                                                    {{}, {40000}}};
  for (const auto& [small, big] : shapes) {
    cases.push_back(broadcast_to_case(small, big));
    cases.push_back(sum_to_case(big, small));
  }
}

}  // namespace

std::vector<OpCase> elementwise_cases() {
  std::vector<OpCase> cases;
  for (const Unary& op : unary_operations()) {
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{31}, Shape{32}, Shape{33},
                               Shape{2, 3}, Shape{1000}, Shape{40001}}) {
      cases.push_back(unary_case(op, shape));
    }
  }
  add_binary_cases(cases);
  add_broadcast_cases(cases);
  return cases;
}

}  // namespace moiety::testing
