// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "support/place.h"
#include "tensor/tensor.h"

namespace moiety::bench {

/// What one iteration must do at least: bytes read and written once, and floating-point operations
/// of a product, in which arithmetic.
struct Work {
  double bytes = 0;
  double flops = 0;
  Arithmetic arithmetic = Arithmetic::f32;
};

/// A benchmark's name without its place, "family/kernel/shape/dtype", and its work.
struct Case {
  std::string name;
  Work work;
};

/// Registers each benchmark on its places (a CPU with one thread and with all, or a GPU) and
/// compares it with what the place reaches in the same run: counters GB/s, GFLOP/s and of_limit,
/// the fraction of the time that copying as many bytes or as many multiply-adds would take.
class Suite {
 public:
  /// Prepares inputs and outputs on a device and returns what one iteration runs.
  using Prepare = std::function<std::function<void()>(Device&)>;

  explicit Suite(Options options);

  const Options& options() const { return options_; }
  bool on_gpu() const { return options_.device == "cuda"; }
  /// Element types that a family runs in: f32, on a GPU bf16 as well.
  std::vector<DType> dtypes() const;
  /// The same for products: on a GPU f32, tf32 and bf16.
  std::vector<Arithmetic> arithmetics() const;
  /// See Options::sized.
  std::int64_t sized(std::int64_t extent, std::int64_t most) const {
    return options_.sized(extent, most);
  }

  /// `name` is "family/kernel/shape". A name that was added before is left out: with --tiny,
  /// several sizes may become one.
  void add(const std::string& name, DType dtype, Work work, const Prepare& prepare);

  const std::vector<std::unique_ptr<Place>>& places() const { return places_; }
  const std::vector<Case>& cases() const { return cases_; }

 private:
  Options options_;
  std::vector<std::unique_ptr<Place>> places_;
  std::set<std::string> names_;
  std::vector<Case> cases_;
};

/// The element type of the operands.
DType dtype_of(Arithmetic arithmetic);

/// Bytes of an element, as a number to count with.
inline double bytes_of(DType dtype) { return static_cast<double>(size_of(dtype)); }

/// A tensor of small numbers, different from each other, for inputs.
Tensor make_input(Device& device, const Shape& shape, DType dtype);

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
void add_attention(Suite& suite);
void add_rotary(Suite& suite);
void add_steps(Suite& suite);

}  // namespace moiety::bench
