// SPDX-License-Identifier: Apache-2.0
#include "autograd/ops/gather.h"
#include "autograd/ops/test_graph.h"
#include "support/op_case.h"

namespace moiety::testing {
namespace {

using Values = std::vector<std::vector<double>>;
using Index = std::vector<std::int32_t>;

OpCase gather_case(int rows, const Index& index, std::int64_t channels) {
  OpCase c;
  c.name = concat("gather_n", rows, "_e", index.size(), "_c", channels);
  c.inputs = {{rows, channels}};
  const TransposedIndex transposed = transpose_index(index, rows);
  c.run = [=](const Variables& in) -> Variables {
    Device& device = in[0].device();
    return {ops::gather(in[0], index_tensor(index, device), index_tensor(transposed.ptr, device),
                        index_tensor(transposed.order, device))};
  };
  c.reference = [=](const Values& in) -> Values {
    std::vector<double> out;
    for (std::int32_t i : index) {
      const auto row = in[0].begin() + i * channels;
      out.insert(out.end(), row, row + channels);
    }
    return {out};
  };
  return c;
}

OpCase scatter_case(int rows, const Index& index, std::int64_t channels) {
  OpCase c;
  c.name = concat("scatter_sum_n", rows, "_e", index.size(), "_c", channels);
  c.inputs = {{static_cast<std::int64_t>(index.size()), channels}};
  const TransposedIndex transposed = transpose_index(index, rows);
  c.run = [=](const Variables& in) -> Variables {
    Device& device = in[0].device();
    return {ops::scatter_sum(in[0], index_tensor(index, device),
                             index_tensor(transposed.ptr, device),
                             index_tensor(transposed.order, device))};
  };
  c.reference = [=](const Values& in) -> Values {
    std::vector<double> out(static_cast<std::size_t>(rows * channels));
    for (std::size_t i = 0; i < in[0].size(); ++i) {
      const auto width = static_cast<std::size_t>(channels);
      out[static_cast<std::size_t>(index[i / width]) * width + i % width] += in[0][i];
    }
    return {out};
  };
  return c;
}

OpCase embedding_case(int rows, const Index& dims, std::int64_t channels) {
  OpCase c;
  const auto features = static_cast<std::int64_t>(dims.size());
  c.name = concat("embedding_sum_n", rows, "_f", features, "_c", channels);
  std::int64_t table_rows = 0;
  for (std::int32_t dim : dims) table_rows += dim;
  c.inputs = {{table_rows, channels}};
  Index index;
  for (std::int32_t draw : random_index(rows * static_cast<int>(features), 1000, 7)) {
    index.push_back(draw % dims[index.size() % dims.size()]);
  }
  c.run = [=](const Variables& in) -> Variables {
    const Tensor t = Tensor::from(index, {rows, features}, in[0].device());
    return {ops::embedding_sum(in[0], t, dims)};
  };
  c.reference = [=](const Values& in) -> Values {
    std::vector<double> out;
    for (std::int64_t n = 0; n < rows; ++n) {
      for (std::int64_t k = 0; k < channels; ++k) {
        double sum = 0;
        std::int64_t first = 0;
        for (std::int64_t f = 0; f < features; ++f) {
          const auto row = first + index[static_cast<std::size_t>(n * features + f)];
          sum += in[0][static_cast<std::size_t>(row * channels + k)];
          first += dims[static_cast<std::size_t>(f)];
        }
        out.push_back(sum);
      }
    }
    return {out};
  };
  return c;
}

void add_cases(std::vector<OpCase>& cases, int rows, const Index& index, std::int64_t channels) {
  cases.push_back(gather_case(rows, index, channels));
  cases.push_back(scatter_case(rows, index, channels));
}

/// Three of four entries name row 1: one huge list, and many short and empty ones.
Index skewed_index(int entries, int rows) {
  Index index = random_index(entries, rows, 8);
  for (std::size_t e = 0; e < index.size(); ++e) {
    if (e % 4 != 0) index[e] = 1;
  }
  return index;
}

}  // namespace

std::vector<OpCase> gather_cases() {
  std::vector<OpCase> cases;
  for (const int scale : {1, 31}) {
    const Index index = random_index(7 * scale, 4 * scale, 5);
    for (const std::int64_t channels : scale == 1 ? std::vector<std::int64_t>{1, 3}
                                                  : std::vector<std::int64_t>{31, 32, 33, 100}) {
      add_cases(cases, 4 * scale, index, channels);
      cases.push_back(embedding_case(5 * scale, {3, 2, 4}, channels));
    }
  }
  for (const int n : {31, 32, 33}) {
    add_cases(cases, n, random_index(64 - n, n, 6), 3);
    cases.push_back(embedding_case(n, {3, 2}, 3));
  }
  add_cases(cases, 5, {}, 3);
  add_cases(cases, 0, {}, 3);
  add_cases(cases, 1, Index(9), 2);
  add_cases(cases, 500, random_index(3000, 500, 6), 64);
  add_cases(cases, 3, skewed_index(6000, 3), 5);
  add_cases(cases, 400, skewed_index(4000, 400), 5);
  cases.push_back(embedding_case(0, {3, 2}, 3));
  cases.push_back(embedding_case(1, {3, 2}, 3));
  cases.push_back(embedding_case(6, {4}, 2));
  cases.push_back(embedding_case(5000, {1}, 5));
  cases.push_back(embedding_case(3000, {119, 5, 12, 12, 10, 6, 6, 2, 2}, 80));
  return cases;
}

}  // namespace moiety::testing
