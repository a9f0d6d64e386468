// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce.h"
#include "support/suite.h"

namespace moiety::bench {
namespace {

std::string name_of_case(const std::string& name, const Shape& shape) {
  std::string out = "reduce/" + name + "/";
  for (int d = 0; d < shape.ndim(); ++d) out += (d ? "x" : "") + std::to_string(shape[d]);
  return out;
}

/// The sum over the middle dimension.
void add_sum(Suite& suite, const std::string& name, const Shape& shape, DType dtype) {
  const Shape reduced{shape[0], shape[2]};
  const Work work{.bytes = bytes_of(dtype) * static_cast<double>(shape.numel() + reduced.numel())};
  suite.add(name_of_case(name, shape), dtype, work, [=](Device& device) {
    const Tensor x = make_input(device, shape, dtype);
    const Tensor y = Tensor::empty(reduced, dtype, device);
    return [=, &device] { kernels::sum(device.stream(), 1.0, x, y); };
  });
}

using RowKernel = void (*)(const Stream&, const TensorView&, const TensorView&);
using RowGradKernel = void (*)(const Stream&, const TensorView&, const TensorView&,
                               const TensorView&);

Work moving(std::int64_t arrays, const Shape& shape, DType dtype) {
  return {.bytes = bytes_of(dtype) * static_cast<double>(arrays * shape.numel())};
}

void add_rows(Suite& suite, const std::string& name, RowKernel kernel, const Shape& shape,
              DType dtype) {
  suite.add(name_of_case(name, shape), dtype, moving(2, shape, dtype), [=](Device& device) {
    const Tensor x = make_input(device, shape, dtype);
    const Tensor y = Tensor::empty(shape, dtype, device);
    return [=, &device] { kernel(device.stream(), x, y); };
  });
}

void add_rows_grad(Suite& suite, const std::string& name, RowGradKernel kernel, const Shape& shape,
                   DType dtype) {
  suite.add(name_of_case(name, shape), dtype, moving(3, shape, dtype), [=](Device& device) {
    const Tensor y = make_input(device, shape, dtype);
    const Tensor g = make_input(device, shape, dtype);
    const Tensor dx = Tensor::empty(shape, dtype, device);
    return [=, &device] { kernel(device.stream(), y, g, dx); };
  });
}

void add_dtype(Suite& suite, DType dtype) {
  for (const std::int64_t full : {std::int64_t{1024}, std::int64_t{1} << 19}) {
    const std::int64_t rows = suite.sized(full, 64);
    add_sum(suite, "sum_all", {1, 64 * rows, 1}, dtype);
    add_sum(suite, "sum_rows", {rows, 64, 1}, dtype);
    add_sum(suite, "sum_columns", {1, rows, 64}, dtype);
    add_sum(suite, "sum_columns", {1, rows / 16, 1024}, dtype);
  }
  for (const Shape& full : {Shape{1024, 64}, Shape{1024, 600}, Shape{65536, 512}}) {
    const Shape shape{suite.sized(full[0], 16), full[1]};
    add_rows(suite, "softmax", kernels::softmax, shape, dtype);
    add_rows_grad(suite, "softmax_grad", kernels::softmax_grad, shape, dtype);
    add_rows(suite, "log_softmax", kernels::log_softmax, shape, dtype);
    add_rows_grad(suite, "log_softmax_grad", kernels::log_softmax_grad, shape, dtype);
  }
}

}  // namespace

void add_reduce(Suite& suite) {
  for (const DType dtype : suite.dtypes()) add_dtype(suite, dtype);
}

}  // namespace moiety::bench
