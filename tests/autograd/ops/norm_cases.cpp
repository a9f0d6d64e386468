// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "autograd/ops/norm.h"
#include "autograd/ops/shape.h"
#include "kernels/norm.h"
#include "support/op_case.h"

namespace moiety::testing {
namespace {

using Values = std::vector<double>;
using Results = std::vector<Values>;

constexpr double kEps = 1e-5;

std::string sizes(std::int64_t rows, std::int64_t width) {
  return std::to_string(rows) + "x" + std::to_string(width);
}

struct Moments {
  double mean = 0;
  double var = 0;
};

/// Mean and biased variance of `count` elements from `first`, `step` apart.
Moments moments(const Values& x, std::size_t first, std::size_t step, std::size_t count) {
  Moments m;
  for (std::size_t i = 0; i < count; ++i) m.mean += x[first + i * step];
  m.mean /= static_cast<double>(count);
  for (std::size_t i = 0; i < count; ++i) m.var += std::pow(x[first + i * step] - m.mean, 2);
  m.var /= static_cast<double>(count);
  return m;
}

OpCase norm_case(const std::string& name, std::int64_t rows, std::int64_t width) {
  OpCase c;
  c.name = name + "_" + sizes(rows, width);
  c.inputs = {{rows, width}, {width}, {width}};
  c.low = 0.5;  // off centre, where the difference of mean squares would cancel
  c.high = 2.5;
  return c;
}

/// Normalised, scaled and shifted elements with the moments that `at(row, column)` gives.
Results normalised(const Results& x, std::size_t width,
                   const std::function<Moments(std::size_t, std::size_t)>& at) {
  Values out(x[0].size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Moments m = at(i / width, i % width);
    out[i] = (x[0][i] - m.mean) / std::sqrt(m.var + kEps) * x[1][i % width] + x[2][i % width];
  }
  return {out};
}

OpCase layer_norm_case(std::int64_t rows, std::int64_t width) {
  OpCase c = norm_case("layer_norm", rows, width);
  c.run = [](const Variables& v) { return Variables{ops::layer_norm(v[0], v[1], v[2], kEps)}; };
  c.reference = [n = static_cast<std::size_t>(width)](const Results& x) {
    return normalised(x, n,
                      [&](std::size_t row, std::size_t) { return moments(x[0], row * n, 1, n); });
  };
  return c;
}

OpCase rms_norm_case(std::int64_t rows, std::int64_t width) {
  OpCase c = norm_case("rms_norm", rows, width);
  c.inputs.pop_back();
  c.run = [](const Variables& v) { return Variables{ops::rms_norm(v[0], v[1], kEps)}; };
  c.reference = [n = static_cast<std::size_t>(width)](const Results& x) {
    Values out(x[0].size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Moments m = moments(x[0], i / n * n, 1, n);
      out[i] = x[0][i] / std::sqrt(m.var + m.mean * m.mean + kEps) * x[1][i % n];
    }
    return Results{out};
  };
  return c;
}

/// Running statistics that differ from column to column.
ops::BatchNormState make_state(std::int64_t width, const Variable& x) {
  Values mean;
  Values var;
  for (std::int64_t c = 0; c < width; ++c) {
    mean.push_back(static_cast<double>(c % 5) * 0.25);
    var.push_back(1.0 + static_cast<double>(c % 3) * 0.5);
  }
  const DType dtype = kernels::statistics_dtype(x.dtype());
  return {tensor_of(mean, {width}, dtype, x.device()), tensor_of(var, {width}, dtype, x.device())};
}

OpCase batch_norm_case(std::int64_t rows, std::int64_t width, bool training) {
  OpCase c = norm_case(training ? "batch_norm_training" : "batch_norm", rows, width);
  c.run = [=](const Variables& v) {
    const auto state = make_state(width, v[0]);
    return Variables{ops::batch_norm(v[0], v[1], v[2], state, training, {.eps = kEps})};
  };
  c.reference = [=, n = static_cast<std::size_t>(width)](const Results& x) {
    return normalised(x, n, [&](std::size_t, std::size_t column) -> Moments {
      if (training) return moments(x[0], column, n, x[0].size() / n);
      return {static_cast<double>(column % 5) * 0.25, 1.0 + static_cast<double>(column % 3) * 0.5};
    });
  };
  return c;
}

/// The same with `padding` rows behind.
OpCase padded_batch_norm_case(std::int64_t rows, std::int64_t padding, std::int64_t width,
                              bool training) {
  OpCase c = batch_norm_case(rows, width, training);
  c.name += "_and_" + std::to_string(padding);
  c.inputs[0] = {rows + padding, width};
  c.run = [=](const Variables& v) {
    const auto count = static_cast<std::int32_t>(rows);
    const ops::BatchNormOptions options{
        .eps = kEps, .rows = Tensor::from(std::vector{count}, {1}, v[0].device())};
    const Variable out =
        ops::batch_norm(v[0], v[1], v[2], make_state(width, v[0]), training, options);
    return Variables{ops::slice(out, 0, 0, rows)};
  };
  c.reference = [unpadded = c.reference, size = static_cast<std::size_t>(rows * width)](Results x) {
    x[0].resize(size);
    return unpadded(x);
  };
  return c;
}

/// A case whose norm takes a tail, with what follows it: a residual, the last input, if any.
template <class Run>
OpCase with_tail(OpCase c, ops::Epilogue epilogue, bool residual, const Run& run) {
  const bool relu = epilogue == ops::Epilogue::relu;
  c.name += std::string(relu ? "_relu" : "") + (residual ? "_residual" : "");
  c.low = -2.5;  // so that biases let some pass a ReLU and some not
  if (residual) c.inputs.push_back(c.inputs[0]);
  c.run = [=](const Variables& v) {
    return Variables{run(v, {.epilogue = epilogue, .residual = residual ? v[3] : Variable()})};
  };
  c.reference = [=, norm = c.reference](const Results& x) {
    Results out = norm(x);
    for (std::size_t i = 0; i < out[0].size(); ++i) {
      if (relu) out[0][i] = std::max(out[0][i], 0.0);
      if (residual) out[0][i] += x[3][i];
    }
    return out;
  };
  return c;
}

void add_tail_cases(std::vector<OpCase>& cases, std::int64_t rows, std::int64_t width) {
  for (const auto& [epilogue, residual] :
       {std::pair{ops::Epilogue::relu, false}, std::pair{ops::Epilogue::none, true},
        std::pair{ops::Epilogue::relu, true}}) {
    cases.push_back(with_tail(layer_norm_case(rows, width), epilogue, residual,
                              [](const Variables& v, const ops::NormTail& tail) {
                                return ops::layer_norm(v[0], v[1], v[2], kEps, tail);
                              }));
    for (const bool training : {true, false}) {
      cases.push_back(with_tail(batch_norm_case(rows, width, training), epilogue, residual,
                                [=](const Variables& v, const ops::NormTail& tail) {
                                  return ops::batch_norm(v[0], v[1], v[2], make_state(width, v[0]),
                                                         training, {.eps = kEps, .tail = tail});
                                }));
    }
  }
}

}  // namespace

std::vector<OpCase> norm_cases() {
  using Sizes = std::vector<std::pair<std::int64_t, std::int64_t>>;
  const Sizes layers{{1, 2},  {3, 4},  {5, 5},   {0, 4},    {33, 1},  {2, 31},   {32, 32},
                     {3, 33}, {33, 5}, {40, 64}, {700, 65}, {900, 3}, {30, 1000}};
  const Sizes batches{{2, 1},   {4, 3},  {5, 3},   {7, 5},    {31, 2}, {32, 32},
                      {33, 31}, {3, 33}, {40, 64}, {700, 65}, {515, 3}};
  std::vector<OpCase> cases;
  for (const auto& [rows, width] : layers) {
    cases.push_back(layer_norm_case(rows, width));
    cases.push_back(rms_norm_case(rows, width));
  }
  for (const auto& [rows, width] : batches) {
    cases.push_back(batch_norm_case(rows, width, true));
    cases.push_back(batch_norm_case(rows, width, false));
  }
  for (const bool training : {true, false}) {
    cases.push_back(padded_batch_norm_case(5, 3, 3, training));
    cases.push_back(padded_batch_norm_case(40, 900, 64, training));
  }
  for (const auto& [rows, width] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{5, 3}, {4, 8}, {70, 33}, {40, 64}}) {
    add_tail_cases(cases, rows, width);
  }
  add_tail_cases(cases, 6, 1000);
  cases.push_back(batch_norm_case(1, 4, false));
  cases.push_back(batch_norm_case(0, 4, false));
  return cases;
}

}  // namespace moiety::testing
