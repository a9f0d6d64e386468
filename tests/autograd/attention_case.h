// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include "autograd/ops/attention.h"
#include "tensor/rng.h"

// What the tests of attention share: a case and the tensors that belong to it.
namespace moiety::testing::attention {

using Lengths = std::vector<std::int64_t>;
using Numbers = std::vector<double>;

inline constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

struct Case {
  std::string name;
  Lengths queries;
  Lengths keys = {};  // empty: those of the queries
  std::int64_t heads = 2;
  std::int64_t key_heads = 2;
  std::int64_t width = 8;
  bool causal = false;
  double dropout = 0;
  Shape bias = {};  // no dimensions: none
};

inline std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

inline Lengths keys_of(const Case& c) { return c.keys.empty() ? c.queries : c.keys; }

inline std::int64_t sum(const Lengths& lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
}

inline Tensor pointers(const Lengths& lengths, Device& device) {
  std::vector<std::int32_t> ptr = {0};
  for (const std::int64_t n : lengths) ptr.push_back(ptr.back() + static_cast<std::int32_t>(n));
  return Tensor::from(ptr, {std::ssize(ptr)}, device);
}

inline Numbers random_numbers(const Shape& shape, std::uint64_t stream) {
  Numbers out;
  for (std::int64_t i = 0; i < shape.numel(); ++i) {
    out.push_back(2 * random_uniform({4, stream}, static_cast<std::uint64_t>(i)) - 1);
  }
  return out;
}

inline ops::AttentionOptions options_of(const Case& c) {
  return {.causal = c.causal, .dropout = c.dropout, .key = {9, 2}, .first = 3, .longest = 300};
}

inline std::vector<Shape> shapes_of(const Case& c) {
  std::vector<Shape> shapes = {{sum(c.queries), c.heads, c.width},
                               {sum(keys_of(c)), c.key_heads, c.width},
                               {sum(keys_of(c)), c.key_heads, c.width}};
  if (c.bias.ndim() > 0) shapes.push_back(c.bias);
  return shapes;
}

inline Variables make_inputs(const Case& c, DType dtype, Device& device) {
  Variables inputs;
  for (const Shape& shape : shapes_of(c)) {
    const Numbers values = random_numbers(shape, inputs.size());
    const Tensor t =
        dtype == DType::f64
            ? Tensor::from(values, shape, device)
            : Tensor::from(std::vector<float>(values.begin(), values.end()), shape, device);
    inputs.emplace_back(t, true);
  }
  return inputs;
}

inline Variable run(const Case& c, const Variables& x) {
  Device& device = x[0].device();
  const ops::Sequences sequences{pointers(c.queries, device), pointers(keys_of(c), device)};
  return ops::attention(x[0], x[1], x[2], sequences, options_of(c),
                        x.size() > 3 ? x[3] : Variable());
}

}  // namespace moiety::testing::attention
