// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "autograd/variable.h"

namespace moiety::testing {

/// One operation at one shape, written once and run as: f32 and f64 against a plain f64 reference,
/// gradcheck, gradgradcheck, equal bits at 1 and 3 threads; benchmarks reuse the list.
struct OpCase {
  std::string name;
  /// Input shapes; values are drawn by seed, uniform in [low, high).
  std::vector<Shape> inputs;
  /// The operation. Index tensors and the like are made inside, on the inputs' device.
  std::function<Variables(const Variables&)> run;
  /// The same in plain loops: flat row-major inputs -> flat outputs.
  std::function<std::vector<std::vector<double>>(const std::vector<std::vector<double>>&)>
      reference;
  double low = -1.0;
  double high = 1.0;
  /// False for operations that are not differentiable (their inputs then require no gradient).
  bool differentiable = true;
  /// False where bf16 and f16 are too coarse for the operation.
  bool halves = true;
  /// Largest error of the f32 result relative to the largest reference value.
  double tolerance = 2e-6;
};

std::ostream& operator<<(std::ostream& out, const OpCase& c);

/// The values rounded to a floating dtype, on a device.
Tensor tensor_of(const std::vector<double>& values, const Shape& shape, DType dtype,
                 Device& device);

/// The inputs of a case, of one dtype, on a device.
Variables make_inputs(const OpCase& c, DType dtype, Device& device, bool requires_grad);

/// What the parameterised suite runs; each returns "" or what is wrong.
std::string check_against_reference(const OpCase& c, DType dtype, Device& device);
/// First and second derivatives against differences: element by element for small cases, along a
/// random direction for large ones.
std::string check_gradients(const OpCase& c, Device& device);
std::string check_thread_invariance(const OpCase& c);
/// Two runs on a device give the same bits.
std::string check_repeats(const OpCase& c, Device& device);
/// Inputs and output gradients that are transposed views give what contiguous ones give.
std::string check_strided_inputs(const OpCase& c, Device& device);

/// Appended by each family's file in tests/autograd/ops; explicit, no registration.
std::vector<OpCase> elementwise_cases();
std::vector<OpCase> reduce_cases();
std::vector<OpCase> shape_cases();
std::vector<OpCase> norm_cases();
std::vector<OpCase> random_cases();
std::vector<OpCase> loss_cases();
std::vector<OpCase> matmul_cases();
std::vector<OpCase> gather_cases();
std::vector<OpCase> segment_cases();
std::vector<OpCase> message_passing_cases();
std::vector<OpCase> rotary_cases();
std::vector<OpCase> all_op_cases();

}  // namespace moiety::testing
