// SPDX-License-Identifier: Apache-2.0
#include "autograd/ops/gather.h"
#include "autograd/ops/test_graph.h"
#include "support/op_case.h"

namespace moiety::testing {
namespace {

using Values = std::vector<std::vector<double>>;
using Index = std::vector<std::int32_t>;

OpCase gather_case(int rows, int entries, std::int64_t channels, bool differentiable) {
  OpCase c;
  c.name = concat("gather_n", rows, "_e", entries, "_c", channels);
  c.inputs = {{rows, channels}};
  const Index index = random_index(entries, rows, 5);
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
  c.differentiable = differentiable;
  return c;
}

OpCase scatter_case(int rows, int entries, std::int64_t channels, bool differentiable) {
  OpCase c;
  c.name = concat("scatter_sum_n", rows, "_e", entries, "_c", channels);
  c.inputs = {{entries, channels}};
  const Index index = random_index(entries, rows, 6);
  const TransposedIndex transposed = transpose_index(index, rows);
  c.run = [=](const Variables& in) -> Variables {
    Device& device = in[0].device();
    return {ops::scatter_sum(in[0], index_tensor(index, device),
                             index_tensor(transposed.ptr, device),
                             index_tensor(transposed.order, device))};
  };
  c.reference = [=](const Values& in) -> Values {
    std::vector<double> out(static_cast<std::size_t>(rows * channels));
    for (std::int64_t e = 0; e < entries; ++e) {
      for (std::int64_t k = 0; k < channels; ++k) {
        out[static_cast<std::size_t>(index[static_cast<std::size_t>(e)] * channels + k)] +=
            in[0][static_cast<std::size_t>(e * channels + k)];
      }
    }
    return {out};
  };
  c.differentiable = differentiable;
  return c;
}

OpCase embedding_case(int rows, const Index& dims, std::int64_t channels, bool differentiable) {
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
  c.differentiable = differentiable;
  return c;
}

}  // namespace

std::vector<OpCase> gather_cases() {
  std::vector<OpCase> cases;
  for (const bool small : {true, false}) {
    for (std::int64_t channels :
         small ? std::vector<std::int64_t>{1, 3} : std::vector<std::int64_t>{31, 32, 33, 100}) {
      const int scale = small ? 1 : 31;
      cases.push_back(gather_case(4 * scale, 7 * scale, channels, small));
      cases.push_back(scatter_case(4 * scale, 7 * scale, channels, small));
      cases.push_back(embedding_case(5 * scale, {3, 2, 4}, channels, small));
    }
  }
  cases.push_back(gather_case(5, 0, 3, true));
  cases.push_back(scatter_case(5, 0, 3, true));
  cases.push_back(scatter_case(1, 9, 2, true));
  cases.push_back(embedding_case(0, {3, 2}, 3, true));
  cases.push_back(embedding_case(6, {4}, 2, true));
  cases.push_back(gather_case(500, 3000, 64, false));
  cases.push_back(scatter_case(500, 3000, 64, false));
  cases.push_back(embedding_case(3000, {119, 5, 12, 12, 10, 6, 6, 2, 2}, 80, false));
  return cases;
}

}  // namespace moiety::testing
