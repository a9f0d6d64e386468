// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/machine_limits.h"
#include "tensor/tensor.h"

namespace moiety::bench {

/// What one iteration must do at least: bytes read and written once, and floating-point operations.
struct Work {
  double bytes = 0;
  double flops = 0;
};

/// Registers each benchmark on one thread and on all, and compares it with what this machine
/// reaches in the same run: counters GB/s, GFLOP/s and of_limit, the fraction of the time that
/// copying as many bytes (in an array of that size) or as many multiply-adds would take.
class Suite {
 public:
  /// Prepares inputs and outputs on a device and returns what one iteration runs.
  using Prepare = std::function<std::function<void()>(Device&)>;

  explicit Suite(int max_threads);

  void add(const std::string& name, Work work, const Prepare& prepare);

 private:
  struct Place {
    std::unique_ptr<Device> device;
    double fma_rate = 0;
    std::map<std::size_t, double> bandwidths;  // by bytes, measured at first use

    double seconds_at_limit(Work work);
  };
  std::vector<std::unique_ptr<Place>> places_;
};

/// A tensor of small numbers, different from each other, for inputs.
Tensor make_input(Device& device, const Shape& shape, DType dtype = DType::f32);

// One function a family, defined in its *_bench.cpp and called from main.cpp.
void add_elementwise(Suite& suite);
void add_reduce(Suite& suite);
void add_norm(Suite& suite);
void add_random(Suite& suite);
void add_gemm(Suite& suite);
void add_gather(Suite& suite);
void add_segment(Suite& suite);
void add_message_passing(Suite& suite);
void add_optimizer(Suite& suite);

}  // namespace moiety::bench
