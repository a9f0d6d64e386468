// SPDX-License-Identifier: Apache-2.0
#include "autograd/ops/shape.h"
#include "support/op_case.h"

namespace moiety::testing {
namespace {

using Values = std::vector<double>;
using Results = std::vector<Values>;

OpCase reshape_case(const std::string& name, const Shape& from, const Shape& to) {
  OpCase c;
  c.name = "reshape_" + name;
  c.inputs = {from};
  c.run = [to](const Variables& x) { return Variables{ops::reshape(x[0], to)}; };
  c.reference = [](const Results& x) { return x; };
  return c;
}

/// out[a, j, b, i, c] = x[a, i, b, j, c].
OpCase transpose_case(const std::string& name, const Shape& shape, int dim0, int dim1) {
  OpCase c;
  c.name = "transpose_" + name;
  c.inputs = {shape};
  c.run = [=](const Variables& x) { return Variables{ops::transpose(x[0], dim0, dim1)}; };
  c.reference = [=](const Results& x) {
    Shape strides = contiguous_strides(shape);
    Shape out_shape = shape;
    std::swap(strides[dim0], strides[dim1]);
    std::swap(out_shape[dim0], out_shape[dim1]);
    Values out;
    for (std::int64_t i = 0; i < shape.numel(); ++i) {
      std::int64_t at = i;
      std::int64_t place = 0;
      for (int d = shape.ndim() - 1; d >= 0; --d) {
        place += at % out_shape[d] * strides[d];
        at /= out_shape[d];
      }
      out.push_back(x[0][static_cast<std::size_t>(place)]);
    }
    return Results{out};
  };
  return c;
}

struct Grouped {
  Grouped(const Shape& shape, int dim) : extent(shape[dim]) {
    for (int d = 0; d < dim; ++d) outer *= shape[d];
    for (int d = dim + 1; d < shape.ndim(); ++d) inner *= shape[d];
  }
  std::int64_t outer = 1;
  std::int64_t extent;
  std::int64_t inner = 1;
};

OpCase slice_case(const std::string& name, const Shape& shape, int dim, std::int64_t begin,
                  std::int64_t end) {
  OpCase c;
  c.name = "slice_" + name;
  c.inputs = {shape};
  c.run = [=](const Variables& x) { return Variables{ops::slice(x[0], dim, begin, end)}; };
  c.reference = [=, g = Grouped(shape, dim)](const Results& x) {
    Values out;
    for (std::int64_t a = 0; a < g.outer; ++a) {
      for (std::int64_t k = (a * g.extent + begin) * g.inner; k < (a * g.extent + end) * g.inner;
           ++k) {
        out.push_back(x[0][static_cast<std::size_t>(k)]);
      }
    }
    return Results{out};
  };
  return c;
}

OpCase split_case(const std::string& name, const Shape& shape, int dim,
                  const std::vector<std::int64_t>& extents) {
  OpCase c;
  c.name = "split_" + name;
  c.inputs = {shape};
  c.run = [=](const Variables& x) { return ops::split(x[0], dim, extents); };
  c.reference = [=](const Results& x) {
    Results out;
    std::int64_t begin = 0;
    for (const std::int64_t extent : extents) {
      out.push_back(slice_case("", shape, dim, begin, begin + extent).reference(x)[0]);
      begin += extent;
    }
    return out;
  };
  return c;
}

OpCase concat_case(const std::string& name, const std::vector<Shape>& shapes, int dim) {
  OpCase c;
  c.name = "concat_" + name;
  c.inputs = shapes;
  c.run = [dim](const Variables& x) { return Variables{ops::concat(x, dim)}; };
  c.reference = [shapes, dim](const Results& x) {
    Values out;
    for (std::int64_t a = 0; a < Grouped(shapes[0], dim).outer; ++a) {
      for (std::size_t part = 0; part < shapes.size(); ++part) {
        const Grouped g(shapes[part], dim);
        const auto run = static_cast<std::ptrdiff_t>(g.extent * g.inner);
        const auto first = x[part].begin() + a * run;
        out.insert(out.end(), first, first + run);
      }
    }
    return Results{out};
  };
  return c;
}

}  // namespace

std::vector<OpCase> shape_cases() {
  std::vector<OpCase> cases;
  cases.push_back(reshape_case("flat", {2, 3, 4}, {24}));
  cases.push_back(reshape_case("unknown", {2, 3, 4}, {4, -1}));
  cases.push_back(reshape_case("scalar", {1, 1}, {}));
  cases.push_back(reshape_case("empty", {0, 4}, {2, 0}));
  cases.push_back(transpose_case("matrix", {3, 4}, 0, 1));
  cases.push_back(transpose_case("inner", {2, 3, 4}, 1, 2));
  cases.push_back(transpose_case("outer", {2, 3, 4}, 0, 1));
  cases.push_back(transpose_case("ends", {2, 3, 4, 2}, 0, 3));
  cases.push_back(transpose_case("same", {2, 3}, 1, 1));
  cases.push_back(transpose_case("empty", {0, 3}, 0, 1));
  cases.push_back(transpose_case("31", {31, 33}, 0, 1));
  cases.push_back(transpose_case("32", {32, 32}, 0, 1));
  cases.push_back(transpose_case("33", {33, 1, 31}, 0, 2));
  cases.push_back(transpose_case("large", {257, 131}, 0, 1));
  cases.push_back(transpose_case("batch", {5, 65, 63}, 1, 2));
  cases.push_back(transpose_case("heads", {3, 40, 4, 33}, 1, 2));
  cases.push_back(slice_case("rows", {4, 3}, 0, 1, 3));
  cases.push_back(slice_case("columns", {4, 3}, 1, 1, 2));
  cases.push_back(slice_case("middle", {2, 5, 3}, 1, 2, 5));
  cases.push_back(slice_case("nothing", {4, 3}, 1, 2, 2));
  cases.push_back(slice_case("all", {4, 3}, 1, 0, 3));
  cases.push_back(slice_case("31", {33, 33}, 0, 1, 32));
  cases.push_back(slice_case("32", {33, 33}, 1, 1, 33));
  cases.push_back(slice_case("33", {2, 70}, 1, 32, 65));
  cases.push_back(slice_case("large", {500, 99}, 1, 17, 80));
  cases.push_back(split_case("rows", {5, 3}, 0, {2, 0, 3}));
  cases.push_back(split_case("columns", {4, 6}, 1, {1, 3, 2}));
  cases.push_back(split_case("heads", {3, 6, 2}, 1, {4, 1, 1}));
  cases.push_back(split_case("large", {500, 99}, 1, {50, 49}));
  cases.push_back(concat_case("one", {{3, 4}}, 0));
  cases.push_back(concat_case("rows", {{2, 3}, {1, 3}}, 0));
  cases.push_back(concat_case("columns", {{2, 3}, {2, 1}, {2, 2}}, 1));
  cases.push_back(concat_case("middle", {{2, 1, 3}, {2, 2, 3}}, 1));
  cases.push_back(concat_case("empty_part", {{2, 3}, {0, 3}}, 0));
  cases.push_back(concat_case("many", {{2, 31}, {2, 32}, {2, 33}, {2, 1}, {2, 0}, {2, 4}}, 1));
  cases.push_back(concat_case("32_rows", {{31, 3}, {32, 3}, {33, 3}, {1, 3}}, 0));
  cases.push_back(concat_case("large", {{500, 64}, {500, 33}}, 1));
  return cases;
}

}  // namespace moiety::testing
