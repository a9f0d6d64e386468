// SPDX-License-Identifier: Apache-2.0
#include "support/suite.h"

#include <algorithm>

#include "kernels/random.h"

namespace moiety::bench {
namespace {

void run(benchmark::State& state, Place& place, const Work& work, const Suite::Prepare& prepare) {
  Device& device = place.device();
  device.set_fast_products(work.arithmetic == Arithmetic::tf32);
  try {
    place.time(state, prepare(device));
  } catch (const Error& error) {  // the other benchmarks go on
    state.SetLabel(error.what());
    return state.SkipWithError(error.what());
  }
  using benchmark::Counter;
  const auto count = static_cast<double>(state.iterations());
  const double limit = std::max(work.bytes / place.copy_rate(work.bytes),
                                work.flops / place.product_rate(work.arithmetic));
  state.counters["GB/s"] = Counter(1e-9 * work.bytes * count, Counter::kIsRate);
  if (work.flops > 0) {
    state.counters["GFLOP/s"] = Counter(1e-9 * work.flops * count, Counter::kIsRate);
  }
  state.counters["of_limit"] = Counter(limit * count, Counter::kIsRate);
}

}  // namespace

Suite::Suite(Options options) : options_(std::move(options)) {
  if (options_.work) return;
  if (on_gpu()) {
    places_.push_back(make_cuda_place(options_));
    return;
  }
  places_.push_back(make_cpu_place(1));
  if (available_cores() > 1) places_.push_back(make_cpu_place(available_cores()));
}

std::vector<DType> Suite::dtypes() const {
  return on_gpu() ? std::vector{DType::f32, DType::bf16} : std::vector{DType::f32};
}

std::vector<Arithmetic> Suite::arithmetics() const {
  using enum Arithmetic;
  return on_gpu() ? std::vector{f32, tf32, bf16} : std::vector{f32};
}

void Suite::add(const std::string& name, DType dtype, Work work, const Prepare& prepare) {
  const bool tf32 = work.arithmetic == Arithmetic::tf32;
  const std::string full = name + "/" + (tf32 ? "tf32" : name_of(dtype));
  if (!names_.insert(full).second) return;
  cases_.push_back({full, work});
  for (const auto& shared : places_) {
    Place* place = shared.get();
    auto* registered = benchmark::RegisterBenchmark(
        (full + "/" + place->name()).c_str(),
        [place, work, prepare](benchmark::State& state) { run(state, *place, work, prepare); });
    place->configure(*registered);
  }
}

DType dtype_of(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::bf16 ? DType::bf16 : DType::f32;
}

Tensor make_input(Device& device, const Shape& shape, DType dtype) {
  Tensor out = Tensor::empty(shape, dtype, device);
  kernels::random_uniform(device.stream(), {1, static_cast<std::uint64_t>(shape.numel())}, -2.0,
                          2.0, out);
  return out;
}

}  // namespace moiety::bench
