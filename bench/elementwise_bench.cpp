// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise.h"
#include "support/suite.h"

namespace moiety::bench {
namespace {

/// In a core's second-level cache, and far larger than all caches.
constexpr std::int64_t kSizes[] = {1 << 16, 1 << 25};

std::string name_of_case(const std::string& name, std::int64_t n) {
  return "elementwise/" + name + "/" + std::to_string(n);
}

Work moving(double elements, DType dtype) { return {.bytes = elements * bytes_of(dtype)}; }

void add_unary(Suite& suite, const std::string& name, kernels::UnaryOp op, std::int64_t n,
               DType dtype) {
  const Work work = moving(2.0 * static_cast<double>(n), dtype);
  suite.add(name_of_case(name, n), dtype, work, [=](Device& device) {
    const Tensor x = make_input(device, {n}, dtype);
    const Tensor y = Tensor::empty({n}, dtype, device);
    return [=, &device] { kernels::unary(device.stream(), op, x, y); };
  });
}

void add_unary_grad(Suite& suite, const std::string& name, kernels::UnaryOp op, std::int64_t n,
                    DType dtype) {
  const Work work = moving(3.0 * static_cast<double>(n), dtype);
  suite.add(name_of_case(name, n), dtype, work, [=](Device& device) {
    const Tensor x = make_input(device, {n}, dtype);
    const Tensor g = make_input(device, {n}, dtype);
    const Tensor y = Tensor::empty({n}, dtype, device);
    return [=, &device] { kernels::unary_grad(device.stream(), op, x, g, y); };
  });
}

/// b broadcasts to a's shape.
void add_binary(Suite& suite, const std::string& name, const Shape& a_shape, const Shape& b_shape,
                DType dtype) {
  const std::int64_t elements = 2 * a_shape.numel() + b_shape.numel();
  const Work work = moving(static_cast<double>(elements), dtype);
  suite.add(name_of_case(name, a_shape.numel()), dtype, work, [=](Device& device) {
    const Tensor a = make_input(device, a_shape, dtype);
    const Tensor b = make_input(device, b_shape, dtype);
    const Tensor y = Tensor::empty(a_shape, dtype, device);
    return [=, &device] { kernels::binary(device.stream(), kernels::BinaryOp::add, a, b, y); };
  });
}

void add_copies(Suite& suite, std::int64_t n, DType dtype) {
  const auto count = static_cast<double>(n);
  suite.add(name_of_case("fill", n), dtype, moving(count, dtype), [=](Device& device) {
    const Tensor y = Tensor::empty({n}, dtype, device);
    return [=, &device] { kernels::fill(device.stream(), y, 1.0); };
  });
  suite.add(name_of_case("transpose", n), dtype, moving(2 * count, dtype), [=](Device& device) {
    const Tensor x = make_input(device, {n / 256, 256}, dtype);
    const Tensor y = Tensor::empty({256, n / 256}, dtype, device);
    return [=, &device] { kernels::copy(device.stream(), x.transpose(0, 1), y); };
  });
  if (dtype != DType::f32) return;
  const Work work{.bytes = count * (bytes_of(DType::f32) + bytes_of(DType::bf16))};
  suite.add(name_of_case("cast_bf16", n), dtype, work, [=](Device& device) {
    const Tensor x = make_input(device, {n}, dtype);
    const Tensor y = Tensor::empty({n}, DType::bf16, device);
    return [=, &device] { kernels::cast(device.stream(), x, y); };
  });
}

void add_size(Suite& suite, std::int64_t n, DType dtype) {
  using kernels::UnaryOp;
  add_unary(suite, "relu", UnaryOp::relu, n, dtype);
  add_unary(suite, "exp", UnaryOp::exp, n, dtype);
  add_unary(suite, "log", UnaryOp::log, n, dtype);
  add_unary(suite, "tanh", UnaryOp::tanh, n, dtype);
  add_unary(suite, "sigmoid", UnaryOp::sigmoid, n, dtype);
  add_unary(suite, "silu", UnaryOp::silu, n, dtype);
  add_unary(suite, "gelu", UnaryOp::gelu, n, dtype);
  add_unary(suite, "softplus", UnaryOp::softplus, n, dtype);
  add_unary_grad(suite, "relu_grad", UnaryOp::relu, n, dtype);
  add_unary_grad(suite, "gelu_grad", UnaryOp::gelu, n, dtype);
  add_unary_grad(suite, "silu_grad", UnaryOp::silu, n, dtype);
  add_binary(suite, "add", {n}, {n}, dtype);
  add_binary(suite, "add_row", {n / 64, 64}, {64}, dtype);
  add_binary(suite, "add_column", {n / 64, 64}, {n / 64, 1}, dtype);
  add_copies(suite, n, dtype);
}

}  // namespace

void add_elementwise(Suite& suite) {
  for (const std::int64_t n : kSizes) {
    for (const DType dtype : suite.dtypes()) add_size(suite, suite.sized(n, 4096), dtype);
  }
}

}  // namespace moiety::bench
