// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise.h"
#include "support/suite.h"

namespace moiety::bench {
namespace {

/// In a core's second-level cache, and far larger than all caches.
constexpr std::int64_t kSizes[] = {1 << 16, 1 << 25};

std::string sized(const std::string& name, std::int64_t n) {
  return "elementwise/" + name + "/" + std::to_string(n);
}

void add_unary(Suite& suite, const std::string& name, kernels::UnaryOp op, std::int64_t n) {
  suite.add(sized(name, n), {.bytes = 8.0 * static_cast<double>(n)}, [=](Device& device) {
    const Tensor x = make_input(device, {n});
    const Tensor y = Tensor::empty({n}, DType::f32, device);
    return [=, &device] { kernels::unary(device.stream(), op, x, y); };
  });
}

void add_unary_grad(Suite& suite, const std::string& name, kernels::UnaryOp op, std::int64_t n) {
  suite.add(sized(name, n), {.bytes = 12.0 * static_cast<double>(n)}, [=](Device& device) {
    const Tensor x = make_input(device, {n});
    const Tensor g = make_input(device, {n});
    const Tensor y = Tensor::empty({n}, DType::f32, device);
    return [=, &device] { kernels::unary_grad(device.stream(), op, x, g, y); };
  });
}

/// b broadcasts to a's shape.
void add_binary(Suite& suite, const std::string& name, const Shape& a_shape, const Shape& b_shape) {
  const double bytes =
      8.0 * static_cast<double>(a_shape.numel()) + 4.0 * static_cast<double>(b_shape.numel());
  suite.add(sized(name, a_shape.numel()), {.bytes = bytes}, [=](Device& device) {
    const Tensor a = make_input(device, a_shape);
    const Tensor b = make_input(device, b_shape);
    const Tensor y = Tensor::empty(a_shape, DType::f32, device);
    return [=, &device] { kernels::binary(device.stream(), kernels::BinaryOp::add, a, b, y); };
  });
}

void add_copies(Suite& suite, std::int64_t n) {
  const double count = static_cast<double>(n);
  suite.add(sized("fill", n), {.bytes = 4 * count}, [=](Device& device) {
    const Tensor y = Tensor::empty({n}, DType::f32, device);
    return [=, &device] { kernels::fill(device.stream(), y, 1.0); };
  });
  suite.add(sized("transpose", n), {.bytes = 8 * count}, [=](Device& device) {
    const Tensor x = make_input(device, {n / 256, 256});
    const Tensor y = Tensor::empty({256, n / 256}, DType::f32, device);
    return [=, &device] { kernels::copy(device.stream(), x.transpose(0, 1), y); };
  });
  suite.add(sized("cast_bf16", n), {.bytes = 6 * count}, [=](Device& device) {
    const Tensor x = make_input(device, {n});
    const Tensor y = Tensor::empty({n}, DType::bf16, device);
    return [=, &device] { kernels::cast(device.stream(), x, y); };
  });
}

}  // namespace

void add_elementwise(Suite& suite) {
  using kernels::UnaryOp;
  for (const std::int64_t n : kSizes) {
    add_unary(suite, "relu", UnaryOp::relu, n);
    add_unary(suite, "exp", UnaryOp::exp, n);
    add_unary(suite, "log", UnaryOp::log, n);
    add_unary(suite, "tanh", UnaryOp::tanh, n);
    add_unary(suite, "sigmoid", UnaryOp::sigmoid, n);
    add_unary(suite, "silu", UnaryOp::silu, n);
    add_unary(suite, "gelu", UnaryOp::gelu, n);
    add_unary(suite, "softplus", UnaryOp::softplus, n);
    add_unary_grad(suite, "relu_grad", UnaryOp::relu, n);
    add_unary_grad(suite, "gelu_grad", UnaryOp::gelu, n);
    add_unary_grad(suite, "silu_grad", UnaryOp::silu, n);
    add_binary(suite, "add", {n}, {n});
    add_binary(suite, "add_row", {n / 64, 64}, {64});
    add_binary(suite, "add_column", {n / 64, 64}, {n / 64, 1});
    add_copies(suite, n);
  }
}

}  // namespace moiety::bench
