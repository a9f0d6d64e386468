// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise.h"
#include "kernels/norm.h"
#include "support/suite.h"

namespace moiety::bench {
namespace {

std::string name_of_case(const std::string& name, std::int64_t rows, std::int64_t width) {
  return "norm/" + name + "/" + std::to_string(rows) + "x" + std::to_string(width);
}

/// What both norms read and write, on a device.
struct Operands {
  Operands(Device& device, std::int64_t rows, std::int64_t width, DType dtype)
      : x(make_input(device, {rows, width}, dtype)),
        grad(make_input(device, {rows, width}, dtype)),
        out(Tensor::empty({rows, width}, dtype, device)),
        weight(make_input(device, {width}, dtype)),
        bias(make_input(device, {width}, dtype)),
        dweight(Tensor::empty({width}, dtype, device)),
        dbias(Tensor::empty({width}, dtype, device)) {}

  kernels::NormGrads grads() const { return {out, dweight, dbias}; }

  Tensor x, grad, out, weight, bias, dweight, dbias;
};

void add_layer_norm(Suite& suite, std::int64_t rows, std::int64_t width, DType dtype) {
  const DType statistics = kernels::statistics_dtype(dtype);
  const auto bytes = [&](std::int64_t arrays, std::int64_t vectors) {
    return bytes_of(dtype) * static_cast<double>(arrays * rows * width + vectors * width) +
           bytes_of(statistics) * static_cast<double>(2 * rows);
  };
  suite.add(
      name_of_case("layer_norm", rows, width), dtype, {.bytes = bytes(2, 2)}, [=](Device& device) {
        const Operands o(device, rows, width, dtype);
        const Tensor mean = Tensor::empty({rows}, statistics, device);
        const Tensor rstd = Tensor::empty({rows}, statistics, device);
        return [=, &device] {
          kernels::layer_norm(device.stream(), 1e-5, o.x, o.weight, o.bias, o.out, mean, rstd);
        };
      });
  suite.add(name_of_case("layer_norm_grad", rows, width), dtype, {.bytes = bytes(3, 3)},
            [=](Device& device) {
              const Operands o(device, rows, width, dtype);
              const Tensor mean = make_input(device, {rows}, statistics);
              const Tensor rstd = make_input(device, {rows}, statistics);
              return [=, &device] {
                kernels::layer_norm_grad(device.stream(), o.grad, o.x, o.weight, mean, rstd,
                                         o.grads());
              };
            });
}

void add_rms_norm(Suite& suite, std::int64_t rows, std::int64_t width, DType dtype) {
  const DType statistics = kernels::statistics_dtype(dtype);
  const auto bytes = [&](std::int64_t arrays, std::int64_t vectors) {
    return bytes_of(dtype) * static_cast<double>(arrays * rows * width + vectors * width) +
           bytes_of(statistics) * static_cast<double>(rows);
  };
  suite.add(
      name_of_case("rms_norm", rows, width), dtype, {.bytes = bytes(2, 1)}, [=](Device& device) {
        const Operands o(device, rows, width, dtype);
        const Tensor rstd = Tensor::empty({rows}, statistics, device);
        return
            [=, &device] { kernels::rms_norm(device.stream(), 1e-5, o.x, o.weight, o.out, rstd); };
      });
  suite.add(name_of_case("rms_norm_grad", rows, width), dtype, {.bytes = bytes(3, 2)},
            [=](Device& device) {
              const Operands o(device, rows, width, dtype);
              const Tensor rstd = make_input(device, {rows}, statistics);
              return [=, &device] {
                kernels::rms_norm_grad(device.stream(), o.grad, o.x, o.weight, rstd, o.out,
                                       o.dweight);
              };
            });
}

/// The statistics and the normalisation each read x; backwards, x and the gradient are read for
/// their sums and again for the gradient of x.
void add_batch_norm(Suite& suite, std::int64_t rows, std::int64_t width, DType dtype) {
  const DType statistics = kernels::statistics_dtype(dtype);
  const auto bytes = [&](std::int64_t arrays, std::int64_t vectors, std::int64_t moments) {
    return bytes_of(dtype) * static_cast<double>(arrays * rows * width + vectors * width) +
           bytes_of(statistics) * static_cast<double>(moments * width);
  };
  suite.add(
      name_of_case("batch_norm", rows, width), dtype, {.bytes = bytes(3, 2, 4)},
      [=](Device& device) {
        const Operands o(device, rows, width, dtype);
        const Tensor mean = Tensor::empty({width}, statistics, device);
        const Tensor var = Tensor::empty({width}, statistics, device);
        return [=, &device] {
          kernels::column_statistics(device.stream(), o.x, mean, var);
          kernels::batch_norm(device.stream(), {mean, var, o.weight, 1e-5}, o.x, o.bias, o.out);
        };
      });
  suite.add(name_of_case("batch_norm_grad", rows, width), dtype, {.bytes = bytes(5, 3, 2)},
            [=](Device& device) {
              const Operands o(device, rows, width, dtype);
              const Tensor mean = make_input(device, {width}, statistics);
              const Tensor var = Tensor::empty({width}, statistics, device);
              kernels::fill(device.stream(), var, 1.0);
              return [=, &device] {
                kernels::batch_norm_grad(device.stream(), {mean, var, o.weight, 1e-5}, true, o.grad,
                                         o.x, o.grads());
              };
            });
}

}  // namespace

void add_norm(Suite& suite) {
  for (const DType dtype : suite.dtypes()) {
    for (const auto& [rows, width] :
         {std::pair{1024, 64}, std::pair{1024, 384}, std::pair{65536, 384}}) {
      add_layer_norm(suite, suite.sized(rows, 48), width, dtype);
      add_rms_norm(suite, suite.sized(rows, 48), width, dtype);
      add_batch_norm(suite, suite.sized(rows, 48), width, dtype);
    }
  }
}

}  // namespace moiety::bench
