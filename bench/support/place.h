// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "support/options.h"
#include "tensor/device.h"

namespace moiety::bench {

/// What products are computed in: tf32 are f32 operands that are rounded to tf32.
enum class Arithmetic { f32, tf32, bf16 };

/// A device that benchmarks run on, how time is measured there, and what it reaches at best in
/// this run.
class Place {
 public:
  virtual ~Place() = default;

  Device& device() { return *device_; }
  /// The end of a benchmark's name: "threads:2", "cuda:0".
  virtual std::string name() const = 0;
  /// Says what it is, for people.
  virtual std::string machine() const = 0;
  /// Bytes per second, read and written, of copying as many bytes as `bytes`.
  virtual double copy_rate(double bytes) = 0;
  /// Operations per second of products.
  virtual double product_rate(Arithmetic arithmetic) = 0;
  /// The limits as a sentence or two, for people.
  virtual std::string limits() = 0;
  /// Sets how a benchmark is timed.
  virtual void configure(benchmark::internal::Benchmark& registered) = 0;
  /// Runs and times `iteration`.
  virtual void time(benchmark::State& state, const std::function<void()>& iteration) = 0;

 protected:
  explicit Place(std::unique_ptr<Device> device) : device_(std::move(device)) {}

 private:
  std::unique_ptr<Device> device_;
};

/// The CPU with so many threads. One thread is timed by its processor time, which other programs do
/// not disturb.
std::unique_ptr<Place> make_cpu_place(int threads);

/// The first GPU. An iteration is the median of some launches, each timed by the GPU, with its
/// second-level cache emptied before. Throws CudaError where there is none, saying why.
std::unique_ptr<Place> make_cuda_place(const Options& options);

}  // namespace moiety::bench
