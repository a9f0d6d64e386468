// SPDX-License-Identifier: Apache-2.0
#include "autograd/ops/matmul.h"
#include "support/op_case.h"

namespace moiety::testing {
namespace {

using Values = std::vector<std::vector<double>>;

struct Sizes {
  std::int64_t batch, m, n, k;  // batch 0: plain matrices
  bool transpose_a = false;
  bool transpose_b = false;
};

std::vector<double> reference(const Sizes& s, const std::vector<double>& a,
                              const std::vector<double>& b) {
  std::vector<double> out;
  for (std::int64_t p = 0; p < std::max<std::int64_t>(1, s.batch); ++p) {
    const double* pa = a.data() + p * s.m * s.k;
    const double* pb = b.data() + p * s.k * s.n;
    for (std::int64_t i = 0; i < s.m; ++i) {
      for (std::int64_t j = 0; j < s.n; ++j) {
        double sum = 0;
        for (std::int64_t r = 0; r < s.k; ++r) {
          sum += pa[s.transpose_a ? r * s.m + i : i * s.k + r] *
                 pb[s.transpose_b ? j * s.k + r : r * s.n + j];
        }
        out.push_back(sum);
      }
    }
  }
  return out;
}

OpCase matmul_case(const Sizes& s) {
  OpCase c;
  c.name = concat("matmul_", s.batch > 0 ? concat(s.batch, "x") : "", s.m, "x", s.n, "x", s.k,
                  s.transpose_a ? "_ta" : "", s.transpose_b ? "_tb" : "");
  Shape a = s.transpose_a ? Shape{s.k, s.m} : Shape{s.m, s.k};
  Shape b = s.transpose_b ? Shape{s.n, s.k} : Shape{s.k, s.n};
  if (s.batch > 0) {
    a = {s.batch, a[0], a[1]};
    b = {s.batch, b[0], b[1]};
  }
  c.inputs = {a, b};
  c.run = [s](const Variables& in) -> Variables {
    return {ops::matmul(in[0], in[1], s.transpose_a, s.transpose_b)};
  };
  c.reference = [s](const Values& in) -> Values { return {reference(s, in[0], in[1])}; };
  c.differentiable = s.m * s.n * s.k < 300'000;  // gradients of large products are large products
  c.tolerance = 1e-5;
  return c;
}

OpCase linear_case(std::int64_t rows, std::int64_t in_width, std::int64_t out_width, bool bias,
                   ops::Epilogue epilogue) {
  OpCase c;
  const bool relu = epilogue == ops::Epilogue::relu;
  c.name = concat("linear_", rows, "x", in_width, "x", out_width, bias ? "_bias" : "",
                  relu ? "_relu" : "");
  c.inputs = {{rows, in_width}, {out_width, in_width}};
  if (bias) c.inputs.push_back({out_width});
  c.run = [bias, epilogue](const Variables& in) -> Variables {
    return {ops::linear(in[0], in[1], bias ? in[2] : Variable(), epilogue)};
  };
  const Sizes sizes{0, rows, out_width, in_width, false, true};
  c.reference = [sizes, bias, relu](const Values& in) -> Values {
    auto out = reference(sizes, in[0], in[1]);
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (bias) out[i] += in[2][i % static_cast<std::size_t>(sizes.n)];
      if (relu) out[i] = std::max(out[i], 0.0);
    }
    return {out};
  };
  c.tolerance = 1e-5;
  return c;
}

}  // namespace

std::vector<OpCase> matmul_cases() {
  std::vector<OpCase> cases;
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      cases.push_back(matmul_case({0, 3, 4, 5, ta, tb}));
      cases.push_back(matmul_case({2, 3, 2, 4, ta, tb}));
      cases.push_back(matmul_case({0, 31, 33, 32, ta, tb}));
      cases.push_back(matmul_case({0, 33, 65, 130, ta, tb}));
      cases.push_back(matmul_case({3, 32, 31, 33, ta, tb}));
      cases.push_back(matmul_case({0, 300, 150, 200, ta, tb}));
    }
  }
  for (const Sizes& s : std::vector<Sizes>{{0, 0, 3, 2},
                                           {0, 3, 0, 2},
                                           {0, 3, 2, 0},
                                           {0, 1, 1, 1},
                                           {0, 7, 1, 5},
                                           {0, 1, 7, 5},
                                           {0, 5, 6, 1},
                                           {0, 1, 1, 9},
                                           {2, 0, 3, 2}}) {
    cases.push_back(matmul_case(s));
  }
  // Cut into tasks along rows, columns, depth and the batch.
  cases.push_back(matmul_case({0, 1100, 64, 64, false, true}));
  cases.push_back(matmul_case({0, 40, 700, 200}));
  cases.push_back(matmul_case({0, 24, 40, 5000, true, false}));
  cases.push_back(matmul_case({37, 40, 40, 40}));
  for (const auto epilogue : {ops::Epilogue::none, ops::Epilogue::relu}) {
    for (const bool bias : {false, true}) {
      cases.push_back(linear_case(5, 3, 4, bias, epilogue));
      cases.push_back(linear_case(33, 31, 65, bias, epilogue));
      cases.push_back(linear_case(31, 32, 33, bias, epilogue));
      cases.push_back(linear_case(32, 33, 32, bias, epilogue));
    }
    cases.push_back(linear_case(6, 1, 3, true, epilogue));
    cases.push_back(linear_case(6, 3, 1, true, epilogue));
    cases.push_back(linear_case(1, 3, 2, true, epilogue));
    cases.push_back(linear_case(0, 3, 2, true, epilogue));
    cases.push_back(linear_case(4, 0, 2, true, epilogue));
    cases.push_back(linear_case(1200, 64, 64, true, epilogue));
    cases.push_back(linear_case(257, 37, 70, true, epilogue));  // the weight is turned first
  }
  return cases;
}

}  // namespace moiety::testing
