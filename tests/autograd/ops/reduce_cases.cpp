// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/ops/reduce.h"
#include "support/op_case.h"

namespace moiety::testing {
namespace {

using Values = std::vector<double>;
using Results = std::vector<Values>;

std::string named(const std::string& name, const Shape& shape, int dim) {
  std::string out = name + "_";
  for (int d = 0; d < shape.ndim(); ++d) out += (d ? "x" : "") + std::to_string(shape[d]);
  if (shape.ndim() == 0) out += "scalar";
  return out + (dim < 0 ? "" : "_dim" + std::to_string(dim));
}

double sum(const Values& v) {
  double total = 0;
  for (double x : v) total += x;
  return total;
}

double log_sum_exp(const Values& v) {
  const double largest = *std::max_element(v.begin(), v.end());
  double total = 0;
  for (double x : v) total += std::exp(x - largest);
  return largest + std::log(total);
}

struct Reducer {
  const char* name;
  Variable (*run)(const Variable&, int, bool);
  double (*reference)(const Values&);
  bool takes_none = true;  ///< has a value over no elements
};

/// Applies f to the elements along `dim` for every other index.
Values reduce_along(const Values& x, const Shape& shape, int dim,
                    const std::function<double(const Values&)>& f) {
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  for (int d = 0; d < dim; ++d) outer *= shape[d];
  for (int d = dim + 1; d < shape.ndim(); ++d) inner *= shape[d];
  Values out;
  for (std::int64_t a = 0; a < outer; ++a) {
    for (std::int64_t b = 0; b < inner; ++b) {
      Values line;
      for (std::int64_t n = 0; n < shape[dim]; ++n) {
        line.push_back(x[static_cast<std::size_t>((a * shape[dim] + n) * inner + b)]);
      }
      out.push_back(f(line));
    }
  }
  return out;
}

OpCase dim_case(const Reducer& r, const Shape& shape, int dim, bool keep_dim) {
  OpCase c;
  c.name = named(r.name, shape, dim) + (keep_dim ? "_kept" : "");
  c.inputs = {shape};
  c.run = [run = r.run, dim, keep_dim](const Variables& x) {
    return Variables{run(x[0], dim, keep_dim)};
  };
  c.reference = [f = r.reference, shape, dim](const Results& x) {
    return Results{reduce_along(x[0], shape, dim, f)};
  };
  return c;
}

OpCase full_case(const char* name, Variable (*run)(const Variable&),
                 double (*reference)(const Values&), const Shape& shape) {
  OpCase c;
  c.name = named(name, shape, -1) + "_all";
  c.inputs = {shape};
  c.run = [run](const Variables& x) { return Variables{run(x[0])}; };
  c.reference = [reference](const Results& x) { return Results{{reference(x[0])}}; };
  c.low = -0.5;  // a mean of 0.25: no cancellation in large sums
  return c;
}

OpCase softmax_case(bool log, const Shape& shape, double range) {
  OpCase c;
  c.name = named(log ? "log_softmax" : "softmax", shape, -1) + "_range" +
           std::to_string(static_cast<int>(range));
  c.inputs = {shape};
  c.run = [log](const Variables& x) {
    return Variables{log ? ops::log_softmax(x[0]) : ops::softmax(x[0])};
  };
  c.reference = [log, width = static_cast<std::size_t>(shape.back())](const Results& x) {
    Values out;
    for (std::size_t row = 0; row < x[0].size(); row += width) {
      const Values line(x[0].begin() + static_cast<std::ptrdiff_t>(row),
                        x[0].begin() + static_cast<std::ptrdiff_t>(row + width));
      const double total = log_sum_exp(line);
      for (double v : line) out.push_back(log ? v - total : std::exp(v - total));
    }
    return Results{out};
  };
  c.low = -range;
  c.high = range;
  return c;
}

}  // namespace

std::vector<OpCase> reduce_cases() {
  std::vector<OpCase> cases;
  const auto mean = [](const Values& v) { return sum(v) / static_cast<double>(v.size()); };
  const std::vector<Reducer> reducers{
      {"sum", ops::sum, sum},
      {"mean", ops::mean, mean, false},
      {"max", ops::max, [](const Values& v) { return *std::max_element(v.begin(), v.end()); },
       false},
      {"log_sum_exp", ops::log_sum_exp, log_sum_exp, false}};
  const std::vector<std::pair<Shape, int>> shapes{
      {{1}, 0},          {{5}, 0},       {{4, 5}, 0},    {{4, 5}, 1},      {{2, 3, 4}, 1},
      {{1, 33}, 0},      {{33, 1}, 1},   {{0, 3}, 1},    {{3, 0}, 0},      {{2, 31, 2}, 1},
      {{31, 33}, 0},     {{32, 32}, 0},  {{33, 31}, 0},  {{2, 31}, 1},     {{2, 32}, 1},
      {{2, 33}, 1},      {{3, 1000}, 1}, {{1000, 3}, 0}, {{700, 65}, 0},   {{700, 65}, 1},
      {{3, 5000, 7}, 1}, {{70000}, 0},   {{2, 9000}, 0}, {{64, 129, 9}, 1}};
  for (const Reducer& r : reducers) {
    for (const auto& [shape, dim] : shapes) {
      cases.push_back(dim_case(r, shape, dim, false));
    }
    cases.push_back(dim_case(r, {4, 3}, 1, true));
    if (r.takes_none) cases.push_back(dim_case(r, {0, 3}, 0, false));
  }
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{3, 4}, Shape{31}, Shape{32},
                             Shape{33}, Shape{1000}, Shape{40, 41, 42}, Shape{1000003}}) {
    cases.push_back(full_case("sum", ops::sum, sum, shape));
    if (shape.numel() > 0) cases.push_back(full_case("mean", ops::mean, mean, shape));
  }
  for (const Shape& shape :
       {Shape{1}, Shape{5}, Shape{3, 4}, Shape{2, 3, 2}, Shape{0, 4}, Shape{33, 1}, Shape{33, 31},
        Shape{31, 32}, Shape{4, 33}, Shape{900, 3}, Shape{300, 65}, Shape{40, 1000}}) {
    for (const bool log : {false, true}) cases.push_back(softmax_case(log, shape, 2.0));
  }
  cases.push_back(softmax_case(false, {4, 64}, 80.0));
  cases.push_back(softmax_case(true, {4, 64}, 80.0));
  return cases;
}

}  // namespace moiety::testing
