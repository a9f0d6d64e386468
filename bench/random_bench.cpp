// SPDX-License-Identifier: Apache-2.0
#include "kernels/random.h"
#include "support/suite.h"

namespace moiety::bench {

void add_random(Suite& suite) {
  constexpr RngKey kKey{1, 2};
  for (const std::int64_t n : {std::int64_t{1} << 16, std::int64_t{1} << 24}) {
    const double count = static_cast<double>(n);
    const std::string size = "/" + std::to_string(n);
    suite.add("random/dropout" + size, {.bytes = 8 * count}, [=](Device& device) {
      const Tensor x = make_input(device, {n});
      const Tensor y = Tensor::empty({n}, DType::f32, device);
      return [=, &device] { kernels::dropout(device.stream(), kKey, 0, 0.1, x, y); };
    });
    suite.add("random/uniform" + size, {.bytes = 4 * count}, [=](Device& device) {
      const Tensor y = Tensor::empty({n}, DType::f32, device);
      return [=, &device] { kernels::random_uniform(device.stream(), kKey, 0.0, 1.0, y); };
    });
    suite.add("random/normal" + size, {.bytes = 4 * count}, [=](Device& device) {
      const Tensor y = Tensor::empty({n}, DType::f32, device);
      return [=, &device] { kernels::random_normal(device.stream(), kKey, 0.0, 1.0, y); };
    });
  }
}

}  // namespace moiety::bench
