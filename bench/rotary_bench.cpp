// SPDX-License-Identifier: Apache-2.0
#include "kernels/norm.h"
#include "kernels/rotary.h"
#include "support/suite.h"

namespace moiety::bench {
namespace {

/// Queries and keys of a layer, in sequences of `positions` tokens.
void add_rotary(Suite& suite, std::int64_t tokens, std::int64_t heads, std::int64_t width,
                std::int64_t positions, DType dtype) {
  const DType statistics = kernels::statistics_dtype(dtype);
  const auto elements = static_cast<double>(tokens * heads * width);
  const Work work{.bytes = 2 * bytes_of(dtype) * elements + 4 * static_cast<double>(tokens) +
                           bytes_of(statistics) * static_cast<double>(positions * width)};
  suite.add("rotary/forward/" + std::to_string(tokens) + "x" + std::to_string(heads) + "x" +
                std::to_string(width),
            dtype, work, [=](Device& device) {
              const Tensor x = make_input(device, {tokens, heads, width}, dtype);
              const Tensor table = make_input(device, {positions, width}, statistics);
              const Tensor out = Tensor::empty(x.shape(), dtype, device);
              std::vector<std::int32_t> places;
              for (std::int64_t t = 0; t < tokens; ++t) {
                places.push_back(static_cast<std::int32_t>(t % positions));
              }
              const Tensor place = Tensor::from(places, {tokens}, device);
              return [=, &device] {
                kernels::rotary(device.stream(), /*back=*/false, x, place, table, out);
              };
            });
}

}  // namespace

void add_rotary(Suite& suite) {
  for (const DType dtype : suite.dtypes()) {
    for (const std::int64_t tokens : {2048, 65536}) {
      add_rotary(suite, suite.sized(tokens, 64), suite.sized(24, 4), 32, 256, dtype);
    }
  }
}

}  // namespace moiety::bench
