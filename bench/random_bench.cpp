// SPDX-License-Identifier: Apache-2.0
#include "kernels/random.h"
#include "support/suite.h"

namespace moiety::bench {
namespace {

void add_size(Suite& suite, std::int64_t n, DType dtype) {
  constexpr RngKey kKey{1, 2};
  const double bytes = bytes_of(dtype) * static_cast<double>(n);
  const std::string size = "/" + std::to_string(n);
  suite.add("random/dropout" + size, dtype, {.bytes = 2 * bytes}, [=](Device& device) {
    const Tensor x = make_input(device, {n}, dtype);
    const Tensor y = Tensor::empty({n}, dtype, device);
    return [=, &device] { kernels::dropout(device.stream(), kKey, 0, 0.1, x, y); };
  });
  suite.add("random/uniform" + size, dtype, {.bytes = bytes}, [=](Device& device) {
    const Tensor y = Tensor::empty({n}, dtype, device);
    return [=, &device] { kernels::random_uniform(device.stream(), kKey, 0.0, 1.0, y); };
  });
  suite.add("random/normal" + size, dtype, {.bytes = bytes}, [=](Device& device) {
    const Tensor y = Tensor::empty({n}, dtype, device);
    return [=, &device] { kernels::random_normal(device.stream(), kKey, 0.0, 1.0, y); };
  });
}

}  // namespace

void add_random(Suite& suite) {
  for (const DType dtype : suite.dtypes()) {
    for (const std::int64_t n : {1 << 16, 1 << 24}) add_size(suite, suite.sized(n, 4096), dtype);
  }
}

}  // namespace moiety::bench
