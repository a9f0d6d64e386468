// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce.h"
#include "support/suite.h"

namespace moiety::bench {
namespace {

std::string sized(const std::string& name, const Shape& shape) {
  std::string out = "reduce/" + name + "/";
  for (int d = 0; d < shape.ndim(); ++d) out += (d ? "x" : "") + std::to_string(shape[d]);
  return out;
}

/// The sum over the middle dimension.
void add_sum(Suite& suite, const std::string& name, const Shape& shape) {
  const Shape reduced{shape[0], shape[2]};
  const double bytes = 4.0 * static_cast<double>(shape.numel() + reduced.numel());
  suite.add(sized(name, shape), {.bytes = bytes}, [=](Device& device) {
    const Tensor x = make_input(device, shape);
    const Tensor y = Tensor::empty(reduced, DType::f32, device);
    return [=, &device] { kernels::sum(device.stream(), 1.0, x, y); };
  });
}

using RowKernel = void (*)(const Stream&, const TensorView&, const TensorView&);
using RowGradKernel = void (*)(const Stream&, const TensorView&, const TensorView&,
                               const TensorView&);

void add_rows(Suite& suite, const std::string& name, RowKernel kernel, const Shape& shape) {
  suite.add(sized(name, shape), {.bytes = 8.0 * static_cast<double>(shape.numel())},
            [=](Device& device) {
              const Tensor x = make_input(device, shape);
              const Tensor y = Tensor::empty(shape, DType::f32, device);
              return [=, &device] { kernel(device.stream(), x, y); };
            });
}

void add_rows_grad(Suite& suite, const std::string& name, RowGradKernel kernel,
                   const Shape& shape) {
  suite.add(sized(name, shape), {.bytes = 12.0 * static_cast<double>(shape.numel())},
            [=](Device& device) {
              const Tensor y = make_input(device, shape);
              const Tensor g = make_input(device, shape);
              const Tensor dx = Tensor::empty(shape, DType::f32, device);
              return [=, &device] { kernel(device.stream(), y, g, dx); };
            });
}

}  // namespace

void add_reduce(Suite& suite) {
  for (const std::int64_t rows : {std::int64_t{1024}, std::int64_t{1} << 19}) {
    add_sum(suite, "sum_all", {1, 64 * rows, 1});
    add_sum(suite, "sum_rows", {rows, 64, 1});
    add_sum(suite, "sum_columns", {1, rows, 64});
    add_sum(suite, "sum_columns", {1, rows / 16, 1024});
  }
  for (const Shape& shape : {Shape{1024, 64}, Shape{1024, 600}, Shape{65536, 512}}) {
    add_rows(suite, "softmax", kernels::softmax, shape);
    add_rows_grad(suite, "softmax_grad", kernels::softmax_grad, shape);
    add_rows(suite, "log_softmax", kernels::log_softmax, shape);
    add_rows_grad(suite, "log_softmax_grad", kernels::log_softmax_grad, shape);
  }
}

}  // namespace moiety::bench
