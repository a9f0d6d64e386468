// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul.h"
#include "support/suite.h"

namespace moiety::bench {
namespace {

std::string sized(const std::string& name, std::int64_t m, std::int64_t n, std::int64_t k) {
  return name + "/" + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
}

Work work_of(std::int64_t m, std::int64_t n, std::int64_t k, double element_bytes = 4) {
  return {.bytes = element_bytes * static_cast<double>(m * k + k * n + m * n),
          .flops = 2.0 * static_cast<double>(m) * static_cast<double>(n * k)};
}

/// x weight^T, as a layer does it: a [m, k], b [n, k].
void add_product(Suite& suite, std::int64_t m, std::int64_t n, std::int64_t k) {
  suite.add(sized("gemm/forward", m, n, k), work_of(m, n, k), [=](Device& device) {
    const Tensor a = make_input(device, {m, k});
    const Tensor b = make_input(device, {n, k});
    const Tensor c = Tensor::empty({m, n}, DType::f32, device);
    return [=, &device] { kernels::gemm(device.stream(), false, true, 1.0, a, b, 0.0, c); };
  });
}

/// The gradient of a weight: a [k, m], b [k, n] with k rows of the batch.
void add_weight_gradient(Suite& suite, std::int64_t m, std::int64_t n, std::int64_t k) {
  suite.add(sized("gemm/weight_gradient", m, n, k), work_of(m, n, k), [=](Device& device) {
    const Tensor a = make_input(device, {k, m});
    const Tensor b = make_input(device, {k, n});
    const Tensor c = Tensor::empty({m, n}, DType::f32, device);
    return [=, &device] { kernels::gemm(device.stream(), true, false, 1.0, a, b, 0.0, c); };
  });
}

void add_linear(Suite& suite, std::int64_t rows, std::int64_t in, std::int64_t out) {
  suite.add(sized("linear/relu", rows, out, in), work_of(rows, out, in), [=](Device& device) {
    const Tensor x = make_input(device, {rows, in});
    const Tensor weight = make_input(device, {out, in});
    const Tensor bias = make_input(device, {out});
    const Tensor y = Tensor::empty({rows, out}, DType::f32, device);
    return [=, &device] { kernels::linear(device.stream(), x, weight, bias, true, y); };
  });
  const auto count = static_cast<double>(rows * out);
  suite.add(sized("linear/epilogue_backward", rows, out, in), {.bytes = 12 * count},
            [=](Device& device) {
              const Tensor grad = make_input(device, {rows, out});
              const Tensor y = make_input(device, {rows, out});
              const Tensor masked = Tensor::empty({rows, out}, DType::f32, device);
              const Tensor dbias = Tensor::empty({out}, DType::f32, device);
              return [=, &device] {
                kernels::linear_epilogue_backward(device.stream(), grad, y, masked, dbias);
              };
            });
}

}  // namespace

void add_gemm(Suite& suite) {
  add_product(suite, 576, 64, 64);
  add_product(suite, 9216, 64, 64);
  add_product(suite, 2304, 256, 256);
  add_product(suite, 1024, 384, 1536);
  add_product(suite, 2048, 2048, 2048);
  add_product(suite, 576, 1, 64);
  add_weight_gradient(suite, 64, 64, 576);
  add_weight_gradient(suite, 64, 64, 9216);
  add_weight_gradient(suite, 256, 256, 2304);
  add_linear(suite, 576, 64, 64);
  add_linear(suite, 576, 256, 256);
  add_linear(suite, 9216, 64, 64);
}

}  // namespace moiety::bench
