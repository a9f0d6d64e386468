// SPDX-License-Identifier: Apache-2.0
#include "autograd/ops/random.h"
#include "support/op_case.h"

namespace moiety::testing {
namespace {

OpCase dropout_case(const Shape& shape, double p, std::uint64_t first) {
  constexpr RngKey kKey{3, 11};
  OpCase c;
  c.name = "dropout_" + std::to_string(shape.numel()) + "_" +
           std::to_string(static_cast<int>(100 * p)) + "_from" + std::to_string(first);
  c.inputs = {shape};
  c.run = [=](const Variables& x) { return Variables{ops::dropout(x[0], p, kKey, first)}; };
  c.reference = [=](const std::vector<std::vector<double>>& x) {
    std::vector<double> out = x[0];
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = random_uniform(kKey, first + i) < p ? 0.0 : out[i] / (1 - p);
    }
    return std::vector<std::vector<double>>{out};
  };
  return c;
}

}  // namespace

std::vector<OpCase> random_cases() {
  return {dropout_case({0}, 0.5, 0),       dropout_case({1}, 0.5, 0),
          dropout_case({5, 7}, 0.25, 0),   dropout_case({33}, 0.1, 63),
          dropout_case({31}, 0.5, 2),      dropout_case({32}, 0.5, 3),
          dropout_case({4, 4}, 0.0, 5),    dropout_case({1000}, 0.5, 1),
          dropout_case({40000}, 0.3, 129), dropout_case({700, 65}, 0.9, 4000000000)};
}

}  // namespace moiety::testing
