// SPDX-License-Identifier: Apache-2.0
#include "support/machine_limits.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <ctime>

#include "kernels/lanes.h"
#include "tensor/tensor.h"

namespace moiety::bench {
namespace {

constexpr int kTries = 25;

/// Seconds of the fastest of several runs of f, each repeated to take about a millisecond: short
/// enough that some escape the other programs of a busy machine.
/// Like the benchmarks, one thread is timed by its processor time and several by the clock.
template <class F>
double best_seconds(const Device& device, const F& f) {
  const bool one = device.stream().pool().threads() == 1;
  const auto now = [one] {
    using Seconds = std::chrono::duration<double>;
    return one ? static_cast<double>(std::clock()) / CLOCKS_PER_SEC
               : Seconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  const auto time = [&](int repeats) {
    const double start = now();
    for (int i = 0; i < repeats; ++i) f();
    return (now() - start) / repeats;
  };
  const int repeats = static_cast<int>(std::clamp(1e-3 / std::max(time(1), 1e-7), 1.0, 1e5));
  double best = time(repeats);
  for (int i = 1; i < kTries; ++i) best = std::min(best, time(repeats));
  return best;
}

}  // namespace

double copy_bandwidth(Device& device, std::size_t bytes) {
  const auto half = static_cast<std::int64_t>(bytes / 2);
  const Tensor from = Tensor::zeros({half}, DType::u8, device);
  const Tensor to = Tensor::zeros({half}, DType::u8, device);
  ThreadPool& pool = device.stream().pool();
  const std::int64_t parts = bytes < 128 * 1024 ? 1 : pool.threads();
  const double seconds = best_seconds(device, [&] {
    pool.run(parts, [&](std::int64_t part) {
      const std::int64_t begin = half * part / parts;
      const std::int64_t end = half * (part + 1) / parts;
      std::memcpy(to.data<std::uint8_t>() + begin, from.data<std::uint8_t>() + begin,
                  static_cast<std::size_t>(end - begin));
    });
  });
  return 2.0 * static_cast<double>(half) / seconds;
}

double fma_rate(Device& device) {
  constexpr int kSteps = 20000;
  constexpr int kChains = 12;  // enough to hide the latency on two units
  using Register = kernels::cpu::Block<float, kChains>;
  ThreadPool& pool = device.stream().pool();
  std::array<float, sizeof(Register) / sizeof(float)> seed{};
  const double seconds = best_seconds(device, [&] {
    pool.run(pool.threads(), [&](std::int64_t) {
      Register sum;
      sum.load(seed.data());
      for (int i = 0; i < kSteps; ++i) sum.add_scaled(0.5f, sum);
      volatile float sink = sum.sum();  // of all chains, or the compiler would drop the others
      (void)sink;
    });
  });
  return 2.0 * kSteps * static_cast<double>(seed.size()) * pool.threads() / seconds;
}

}  // namespace moiety::bench
