// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <fstream>
#include <map>

#include "support/machine_limits.h"
#include "support/place.h"

namespace moiety::bench {
namespace {

/// The processor's name as Linux gives it.
std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "a CPU";
}

class CpuPlace final : public Place {
 public:
  explicit CpuPlace(int threads)
      : Place(make_cpu_device(threads)), threads_(threads), fma_rate_(fma_rate(device())) {}

  std::string name() const override { return "threads:" + std::to_string(threads_); }
  std::string machine() const override {
    return concat(processor_name(), ", ", threads_, threads_ == 1 ? " thread" : " threads");
  }
  double copy_rate(double bytes) override {
    // Sizes that share a power of two share a measurement.
    const std::size_t size = std::bit_ceil(static_cast<std::size_t>(bytes) | 4096);
    auto found = bandwidths_.find(size);
    if (found == bandwidths_.end()) {
      found = bandwidths_.emplace(size, copy_bandwidth(device(), size)).first;
    }
    return found->second;
  }
  double product_rate(Arithmetic) override { return fma_rate_; }
  std::string limits() override {
    constexpr double kLarge = 1 << 28;
    return concat(
        "copying 256 MiB ", static_cast<int>(1e-9 * copy_rate(kLarge)),
        " GB/s read and written (rows of other sizes are compared with copies of theirs), "
        "multiply-adds ",
        static_cast<int>(1e-9 * fma_rate_), " GFLOP/s");
  }
  void configure(benchmark::internal::Benchmark& registered) override {
    registered.MinTime(0.1);
    if (threads_ > 1) registered.UseRealTime();
  }
  void time(benchmark::State& state, const std::function<void()>& iteration) override {
    iteration();
    for (auto _ : state) iteration();
  }

 private:
  int threads_;
  double fma_rate_;
  std::map<std::size_t, double> bandwidths_;  // by bytes, measured at first use
};

}  // namespace

std::unique_ptr<Place> make_cpu_place(int threads) { return std::make_unique<CpuPlace>(threads); }

#ifndef MOIETY_HAS_CUDA
std::unique_ptr<Place> make_cuda_place(const Options&) {
  throw CudaError("device cuda: " + cuda_status().reason);
}
#endif

}  // namespace moiety::bench
