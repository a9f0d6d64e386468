// SPDX-License-Identifier: Apache-2.0
#include "kernels/norm.h"
#include "support/suite.h"

namespace moiety::bench {
namespace {

std::string sized(const std::string& name, std::int64_t rows, std::int64_t width) {
  return "norm/" + name + "/" + std::to_string(rows) + "x" + std::to_string(width);
}

/// What both norms read and write, on a device.
struct Operands {
  Operands(Device& device, std::int64_t rows, std::int64_t width)
      : x(make_input(device, {rows, width})),
        grad(make_input(device, {rows, width})),
        out(Tensor::empty({rows, width}, DType::f32, device)),
        weight(make_input(device, {width})),
        bias(make_input(device, {width})),
        dweight(Tensor::empty({width}, DType::f32, device)),
        dbias(Tensor::empty({width}, DType::f32, device)) {}

  kernels::NormGrads grads() const { return {out, dweight, dbias}; }

  Tensor x, grad, out, weight, bias, dweight, dbias;
};

void add_layer_norm(Suite& suite, std::int64_t rows, std::int64_t width) {
  const double count = static_cast<double>(rows * width);
  suite.add(sized("layer_norm", rows, width), {.bytes = 8 * count}, [=](Device& device) {
    const Operands o(device, rows, width);
    const Tensor mean = Tensor::empty({rows}, DType::f32, device);
    const Tensor rstd = Tensor::empty({rows}, DType::f32, device);
    return [=, &device] {
      kernels::layer_norm(device.stream(), 1e-5, o.x, o.weight, o.bias, o.out, mean, rstd);
    };
  });
  suite.add(sized("layer_norm_grad", rows, width), {.bytes = 12 * count}, [=](Device& device) {
    const Operands o(device, rows, width);
    const Tensor mean = make_input(device, {rows});
    const Tensor rstd = make_input(device, {rows});
    return [=, &device] {
      kernels::layer_norm_grad(device.stream(), o.grad, o.x, o.weight, mean, rstd, o.grads());
    };
  });
}

/// The statistics and the normalisation each read x.
void add_batch_norm(Suite& suite, std::int64_t rows, std::int64_t width) {
  const double count = static_cast<double>(rows * width);
  suite.add(sized("batch_norm", rows, width), {.bytes = 12 * count}, [=](Device& device) {
    const Operands o(device, rows, width);
    const Tensor mean = Tensor::empty({width}, DType::f32, device);
    const Tensor var = Tensor::empty({width}, DType::f32, device);
    return [=, &device] {
      kernels::column_statistics(device.stream(), o.x, mean, var);
      kernels::batch_norm(device.stream(), {mean, var, o.weight, 1e-5}, o.x, o.bias, o.out);
    };
  });
  suite.add(sized("batch_norm_grad", rows, width), {.bytes = 20 * count}, [=](Device& device) {
    const Operands o(device, rows, width);
    const Tensor mean = make_input(device, {width});
    const Tensor var =
        Tensor::from(std::vector<float>(static_cast<std::size_t>(width), 1.0f), {width}, device);
    return [=, &device] {
      kernels::batch_norm_grad(device.stream(), {mean, var, o.weight, 1e-5}, true, o.grad, o.x,
                               o.grads());
    };
  });
}

}  // namespace

void add_norm(Suite& suite) {
  for (const auto& [rows, width] :
       {std::pair{1024, 64}, std::pair{1024, 384}, std::pair{65536, 384}}) {
    add_layer_norm(suite, rows, width);
    add_batch_norm(suite, rows, width);
  }
}

}  // namespace moiety::bench
