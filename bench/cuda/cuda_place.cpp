// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iomanip>
#include <map>
#include <sstream>

#include "kernels/matmul.h"
#include "kernels/reduce.h"
#include "support/place.h"
#include "support/suite.h"
#include "tensor/cuda/event.h"
#include "tensor/cuda/properties.h"

namespace moiety::bench {
namespace {

class CudaPlace final : public Place {
 public:
  explicit CudaPlace(const Options& options)
      : Place(make_cuda_device(0, 1)),
        launches_(options.tiny ? 1 : 30),
        properties_(cuda_properties(device())),
        start_(device(), EventTime::kept),
        stop_(device(), EventTime::kept) {
    constexpr std::int64_t kTimesTheCache = 4;
    const auto cache = static_cast<std::int64_t>(properties_.cache_bytes / sizeof(float));
    filler_ = Tensor::zeros({1, kTimesTheCache * cache, 1}, DType::f32, device());
    filler_sum_ = Tensor::zeros({1, 1}, DType::f32, device());
    measure_copies(options.sized(std::int64_t{1} << 30, 1 << 16));
    const std::int64_t side = options.sized(8192, 32);
    for (const auto arithmetic : {Arithmetic::f32, Arithmetic::tf32, Arithmetic::bf16}) {
      measure_products(arithmetic, side);
    }
    device().set_fast_products(false);
  }

  std::string name() const override { return device_name_; }
  std::string machine() const override {
    return concat(properties_.name, " (compute capability ", properties_.major, ".",
                  properties_.minor, ", ", properties_.multiprocessors, " multiprocessors, ",
                  properties_.memory_bytes >> 20, " MiB, second-level cache ",
                  properties_.cache_bytes >> 10, " KiB), driver for CUDA ",
                  properties_.driver_version / 1000, ".", properties_.driver_version % 1000 / 10);
  }
  double copy_rate(double) override { return copy_rate_; }
  double product_rate(Arithmetic arithmetic) override { return product_rates_.at(arithmetic); }
  std::string limits() override {
    const auto tera = [&](Arithmetic arithmetic) {
      std::ostringstream out;
      out << std::setprecision(3) << 1e-12 * product_rates_.at(arithmetic);
      return out.str();
    };
    return concat("copying in memory ", static_cast<int>(1e-9 * copy_rate_),
                  " GB/s read and written, large square products by cuBLASLt ",
                  tera(Arithmetic::bf16), " TFLOP/s in bf16, ", tera(Arithmetic::tf32),
                  " in tf32, ", tera(Arithmetic::f32), " in f32");
  }
  void configure(benchmark::internal::Benchmark& registered) override {
    registered.Iterations(1)->UseManualTime();
  }
  void time(benchmark::State& state, const std::function<void()>& iteration) override {
    for (auto _ : state) state.SetIterationTime(median_seconds(iteration));
  }

 private:
  /// Reads a large array: nothing of a benchmark's operands stays in the cache. A fill would leave
  /// lines there that the timed launch would have to write back. It also gives the host time to
  /// queue the launch, so that the time is the GPU's alone.
  void empty_cache() { kernels::sum(device().stream(), 1.0, filler_, filler_sum_); }

  double median_seconds(const std::function<void()>& work) {
    const Stream& stream = device().stream();
    work();  // finds plans and memory
    device().synchronize(stream);
    std::vector<double> seconds;
    for (int i = 0; i < launches_; ++i) {
      empty_cache();
      start_.record(stream);
      work();
      stop_.record(stream);
      seconds.push_back(stop_.seconds_since(start_));
    }
    device().synchronize(stream);  // throws what a kernel found wrong
    const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
    std::nth_element(seconds.begin(), middle, seconds.end());
    return *middle;
  }

  void measure_copies(std::int64_t bytes) {
    const Tensor from = Tensor::zeros({bytes}, DType::u8, device());
    const Tensor to = Tensor::zeros({bytes}, DType::u8, device());
    const double seconds = median_seconds([&] {
      device().copy_bytes(to.raw_data(), from.raw_data(), static_cast<std::size_t>(bytes),
                          device().stream());
    });
    copy_rate_ = 2.0 * static_cast<double>(bytes) / seconds;
  }

  /// Of random numbers: a GPU lowers its clock for them, but not for zeros.
  void measure_products(Arithmetic arithmetic, std::int64_t side) {
    const DType dtype = arithmetic == Arithmetic::bf16 ? DType::bf16 : DType::f32;
    device().set_fast_products(arithmetic == Arithmetic::tf32);
    const Tensor a = make_input(device(), {side, side}, dtype);
    const Tensor b = make_input(device(), {side, side}, dtype);
    const Tensor c = Tensor::empty({side, side}, dtype, device());
    const double seconds =
        median_seconds([&] { kernels::gemm(device().stream(), false, true, 1.0, a, b, 0.0, c); });
    const auto n = static_cast<double>(side);
    product_rates_[arithmetic] = 2.0 * n * n * n / seconds;
  }

  std::string device_name_ = device().name();
  int launches_;
  CudaProperties properties_;
  CudaEvent start_;
  CudaEvent stop_;
  Tensor filler_;
  Tensor filler_sum_;
  double copy_rate_ = 0;
  std::map<Arithmetic, double> product_rates_;
};

}  // namespace

std::unique_ptr<Place> make_cuda_place(const Options& options) {
  return std::make_unique<CudaPlace>(options);
}

}  // namespace moiety::bench
