// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "autograd/ops/rotary.h"
#include "autograd/ops/shape.h"
#include "support/op_case.h"

namespace moiety::testing {
namespace {

using Values = std::vector<double>;
using Results = std::vector<Values>;

constexpr double kBase = 100;
constexpr std::int64_t kPositions = 17;

/// Neither ascending nor all different.
std::int32_t position(std::int64_t token) { return static_cast<std::int32_t>(5 * token % 13); }

/// `unused` heads lie between those of one token and the next, as in a joint projection.
OpCase rotary_case(std::int64_t tokens, std::int64_t heads, std::int64_t size,
                   std::int64_t unused) {
  OpCase c;
  c.name = "rotary_" + std::to_string(tokens) + "x" + std::to_string(heads) + "x" +
           std::to_string(size) + (unused > 0 ? "_of_more" : "");
  c.inputs = {{tokens, heads + unused, size}};
  c.run = [=](const Variables& x) {
    Device& device = x[0].device();
    std::vector<std::int32_t> positions;
    for (std::int64_t t = 0; t < tokens; ++t) positions.push_back(position(t));
    return Variables{ops::rotary(ops::split(x[0], 1, {heads, unused})[0],
                                 Tensor::from(positions, {tokens}, device),
                                 ops::rotary_table(kPositions, size, kBase, x[0].dtype(), device))};
  };
  c.reference = [=](const Results& x) {
    Values out;
    for (std::int64_t t = 0; t < tokens; ++t) {
      for (std::int64_t h = 0; h < heads; ++h) {
        const double* head = x[0].data() + (t * (heads + unused) + h) * size;
        for (std::int64_t k = 0; k < size; ++k) {
          const std::int64_t i = k % (size / 2);
          const double angle = position(t) * std::pow(kBase, -2.0 * static_cast<double>(i) /
                                                                 static_cast<double>(size));
          const double first = head[i];
          const double second = head[i + size / 2];
          out.push_back(k == i ? first * std::cos(angle) - second * std::sin(angle)
                               : first * std::sin(angle) + second * std::cos(angle));
        }
      }
    }
    return Results{out};
  };
  return c;
}

}  // namespace

std::vector<OpCase> rotary_cases() {
  return {rotary_case(1, 1, 2, 0),   rotary_case(5, 2, 4, 0),   rotary_case(3, 2, 6, 1),
          rotary_case(0, 2, 4, 0),   rotary_case(33, 3, 32, 2), rotary_case(70, 4, 64, 0),
          rotary_case(31, 12, 30, 0)};
}

}  // namespace moiety::testing
