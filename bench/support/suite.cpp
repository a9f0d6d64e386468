// SPDX-License-Identifier: Apache-2.0
#include "support/suite.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <bit>

#include "kernels/random.h"

namespace moiety::bench {

Suite::Suite(int max_threads) {
  std::vector<int> counts{1};
  if (max_threads > 1) counts.push_back(max_threads);
  for (const int threads : counts) {
    auto place = std::make_unique<Place>();
    place->device = make_cpu_device(threads);
    place->fma_rate = fma_rate(*place->device);
    places_.push_back(std::move(place));
  }
}

double Suite::Place::seconds_at_limit(Work work) {
  // Sizes that share a power of two share a measurement.
  const std::size_t bytes = std::bit_ceil(static_cast<std::size_t>(work.bytes) | 4096);
  auto found = bandwidths.find(bytes);
  if (found == bandwidths.end()) {
    found = bandwidths.emplace(bytes, copy_bandwidth(*device, bytes)).first;
  }
  return std::max(work.bytes / found->second, work.flops / fma_rate);
}

void Suite::add(const std::string& name, Work work, const Prepare& prepare) {
  for (const auto& shared_place : places_) {
    Place* place = shared_place.get();
    const int threads = place->device->stream().pool().threads();
    const auto run = [place, work, prepare](benchmark::State& state) {
      const double limit = place->seconds_at_limit(work);
      const auto iteration = prepare(*place->device);
      iteration();
      for (auto _ : state) iteration();
      const auto count = static_cast<double>(state.iterations());
      using Counter = benchmark::Counter;
      if (work.bytes > 0)
        state.counters["GB/s"] = Counter(1e-9 * work.bytes * count, Counter::kIsRate);
      if (work.flops > 0) {
        state.counters["GFLOP/s"] = Counter(1e-9 * work.flops * count, Counter::kIsRate);
      }
      state.counters["of_limit"] = Counter(limit * count, Counter::kIsRate);
    };
    auto* registered =
        benchmark::RegisterBenchmark((name + "/threads:" + std::to_string(threads)).c_str(), run);
    registered->MinTime(0.1);
    // One thread is timed by its processor time, which other programs do not disturb.
    if (threads > 1) registered->UseRealTime();
  }
}

Tensor make_input(Device& device, const Shape& shape, DType dtype) {
  Tensor out = Tensor::empty(shape, dtype, device);
  kernels::random_uniform(device.stream(), {1, static_cast<std::uint64_t>(shape.numel())}, -2.0,
                          2.0, out);
  return out;
}

}  // namespace moiety::bench
