// SPDX-License-Identifier: Apache-2.0
#include "kernels/optimizer.h"
#include "support/suite.h"

namespace moiety::bench {
namespace {

/// Parameters, gradients and moments are f32 in every training.
void add_parameters(Suite& suite, std::int64_t count) {
  const auto add = [&](const std::string& name, double arrays, const auto& kernel) {
    const Work work{.bytes = bytes_of(DType::f32) * arrays * static_cast<double>(count)};
    suite.add("optimizer/" + name + "/" + std::to_string(count), DType::f32, work,
              [=](Device& device) {
                const Tensor parameters = make_input(device, {count}, DType::f32);
                const Tensor gradients = make_input(device, {count}, DType::f32);
                const Tensor m = Tensor::zeros({count}, DType::f32, device);
                const Tensor v = Tensor::zeros({count}, DType::f32, device);
                return [=, &device] { kernel(device.stream(), parameters, gradients, m, v); };
              });
  };
  add("adamw", 7,
      [count](const Stream& stream, const auto& p, const auto& g, const auto& m, const auto& v) {
        const std::vector<kernels::DecayRange> decay = {{0, count / 2, 0.01}};
        kernels::adam(stream, {}, decay, g, p, m, v);
      });
  add("sgd_momentum", 5,
      [](const Stream& stream, const auto& p, const auto& g, const auto& m, const auto&) {
        kernels::sgd(stream, {1e-6, 0.9, false, 1.0}, {}, g, p, m);
      });
  add("squared_norm", 1,
      [](const Stream& stream, const auto&, const auto& g, const auto&, const auto&) {
        kernels::squared_norm(stream, g);
      });
  add("lerp", 3, [](const Stream& stream, const auto& p, const auto& g, const auto&, const auto&) {
    kernels::lerp(stream, g, 0.001, p);
  });
}

}  // namespace

void add_optimizer(Suite& suite) {
  add_parameters(suite, suite.sized(40000, 4096));
  add_parameters(suite, suite.sized(10600000, 4096));
}

}  // namespace moiety::bench
