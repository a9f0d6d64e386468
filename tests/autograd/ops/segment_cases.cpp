// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "autograd/ops/segment.h"
#include "autograd/ops/test_graph.h"
#include "support/op_case.h"

namespace moiety::testing {
namespace {

using Column = std::vector<double>;
using Segments = std::vector<std::int32_t>;  // ptr

/// Maps the values of one segment and column to what replaces them.
using ColumnFunction = Column (*)(const Column&);

Column sum_of(const Column& x) {
  double sum = 0;
  for (double v : x) sum += v;
  return {sum};
}

Column mean_of(const Column& x) {
  return {x.empty() ? 0.0 : sum_of(x)[0] / static_cast<double>(x.size())};
}

Column max_of(const Column& x) {
  double best = x.empty() ? 0.0 : x[0];
  for (double v : x) best = std::max(best, v);
  return {best};
}

Column softmax_of(const Column& x) {
  Column out;
  for (double v : x) out.push_back(std::exp(v - max_of(x)[0]));
  const double sum = sum_of(out)[0];
  for (double& v : out) v /= sum;
  return out;
}

/// Applies f to each segment and column; rows come out in the order of segments.
Column by_segment(const Column& x, std::size_t channels, const Segments& ptr, ColumnFunction f) {
  Column out;
  for (std::size_t m = 0; m + 1 < ptr.size(); ++m) {
    std::vector<Column> columns;
    for (std::size_t c = 0; c < channels; ++c) {
      Column values;
      for (auto n = ptr[m]; n < ptr[m + 1]; ++n) {
        values.push_back(x[static_cast<std::size_t>(n) * channels + c]);
      }
      columns.push_back(f(values));
    }
    for (std::size_t row = 0; row < columns[0].size(); ++row) {
      for (const Column& column : columns) out.push_back(column[row]);
    }
  }
  return out;
}

using Operation = Variable (*)(const Variable&, const Tensor&);

OpCase reduction_case(const std::string& op, Operation operation, ColumnFunction f,
                      const std::string& shape_name, const Segments& ptr, std::int64_t channels) {
  OpCase c;
  c.name = concat(op, "_", shape_name, "_c", channels);
  c.inputs = {{ptr.back(), channels}};
  c.run = [operation, ptr](const Variables& in) -> Variables {
    return {operation(in[0], index_tensor(ptr, in[0].device()))};
  };
  c.reference = [ptr, channels, f](const std::vector<Column>& in) -> std::vector<Column> {
    return {by_segment(in[0], static_cast<std::size_t>(channels), ptr, f)};
  };
  if (ptr.back() > 1000) c.tolerance = 1e-5;  // sums in f32 lose more the longer they are
  return c;
}

OpCase broadcast_case(const std::string& shape_name, const Segments& ptr, std::int64_t channels) {
  OpCase c;
  c.name = concat("segment_broadcast_", shape_name, "_c", channels);
  c.inputs = {{static_cast<std::int64_t>(ptr.size()) - 1, channels}};
  c.run = [ptr](const Variables& in) -> Variables {
    return {ops::segment_broadcast(in[0], index_tensor(ptr, in[0].device()), ptr.back())};
  };
  c.reference = [ptr, channels](const std::vector<Column>& in) -> std::vector<Column> {
    Column out;
    for (std::size_t m = 0; m + 1 < ptr.size(); ++m) {
      for (auto n = ptr[m]; n < ptr[m + 1]; ++n) {
        const auto row = in[0].begin() + static_cast<std::ptrdiff_t>(m) * channels;
        out.insert(out.end(), row, row + channels);
      }
    }
    return {out};
  };
  return c;
}

/// Every operation on one list of segments.
void add_cases(std::vector<OpCase>& cases, const std::string& shape_name, const Segments& ptr,
               std::int64_t channels) {
  const auto add = [&](const std::string& op, Operation operation, ColumnFunction f) {
    cases.push_back(reduction_case(op, operation, f, shape_name, ptr, channels));
  };
  add("segment_sum", ops::segment_sum, sum_of);
  add("segment_mean", ops::segment_mean, mean_of);
  add("segment_max", ops::segment_max, max_of);
  add("segment_softmax", ops::segment_softmax, softmax_of);
  cases.push_back(broadcast_case(shape_name, ptr, channels));
}

Segments segments_of(const std::vector<std::int32_t>& sizes) {
  Segments ptr{0};
  for (std::int32_t size : sizes) ptr.push_back(ptr.back() + size);
  return ptr;
}

/// Segments of 0 to 5 rows, and one of thousands among them.
Segments skewed_segments() {
  std::vector<std::int32_t> sizes = random_index(150, 6, 12);
  sizes[70] = 3000;
  return segments_of(sizes);
}

}  // namespace

std::vector<OpCase> segment_cases() {
  std::vector<OpCase> cases;
  add_cases(cases, "no_segments", {0}, 3);
  add_cases(cases, "one_empty", {0, 0}, 3);
  add_cases(cases, "single_row", {0, 1}, 1);
  add_cases(cases, "empty_between", {0, 0, 2, 2, 5, 6, 6}, 3);
  add_cases(cases, "all_empty", segments_of(std::vector<std::int32_t>(300)), 3);
  for (std::int64_t channels : {1, 31, 32, 33, 100}) {
    add_cases(cases, "mixed", segments_of({1, 31, 0, 32, 33, 2}), channels);
  }
  for (int segments : {31, 32, 33}) {
    add_cases(cases, concat("of", segments), segments_of(random_index(segments, 4, 13)), 3);
  }
  add_cases(cases, "mixed_small", {0, 1, 2, 5}, 17);
  add_cases(cases, "one_huge", {0, 3, 5003, 5005}, 5);
  add_cases(cases, "skewed", skewed_segments(), 3);
  add_cases(cases, "long", {0, 300}, 8);
  add_cases(cases, "many", segments_of(random_index(600, 40, 11)), 33);
  return cases;
}

}  // namespace moiety::testing
