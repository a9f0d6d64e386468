// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul.h"
#include "support/suite.h"

namespace moiety::bench {
namespace {

/// The output [m, n] and what is summed over.
struct Extents {
  std::int64_t m, n, k;
};

std::string name_of_case(const std::string& name, const Extents& e) {
  return name + "/" + std::to_string(e.m) + "x" + std::to_string(e.n) + "x" + std::to_string(e.k);
}

Work work_of(const Extents& e, Arithmetic arithmetic) {
  const auto elements = static_cast<double>(e.m * e.k + e.k * e.n + e.m * e.n);
  return {.bytes = bytes_of(dtype_of(arithmetic)) * elements,
          .flops = 2.0 * static_cast<double>(e.m) * static_cast<double>(e.n * e.k),
          .arithmetic = arithmetic};
}

/// x weight^T, as a layer does it: a [m, k], b [n, k].
void add_product(Suite& suite, const Extents& e, Arithmetic arithmetic) {
  const DType dtype = dtype_of(arithmetic);
  suite.add(name_of_case("gemm/forward", e), dtype, work_of(e, arithmetic), [=](Device& device) {
    const Tensor a = make_input(device, {e.m, e.k}, dtype);
    const Tensor b = make_input(device, {e.n, e.k}, dtype);
    const Tensor c = Tensor::empty({e.m, e.n}, dtype, device);
    return [=, &device] { kernels::gemm(device.stream(), false, true, 1.0, a, b, 0.0, c); };
  });
}

/// The gradient of a weight: a [k, m], b [k, n] with k rows of the batch.
void add_weight_gradient(Suite& suite, const Extents& e, Arithmetic arithmetic) {
  const DType dtype = dtype_of(arithmetic);
  suite.add(
      name_of_case("gemm/weight_gradient", e), dtype, work_of(e, arithmetic), [=](Device& device) {
        const Tensor a = make_input(device, {e.k, e.m}, dtype);
        const Tensor b = make_input(device, {e.k, e.n}, dtype);
        const Tensor c = Tensor::empty({e.m, e.n}, dtype, device);
        return [=, &device] { kernels::gemm(device.stream(), true, false, 1.0, a, b, 0.0, c); };
      });
}

void add_linear(Suite& suite, const Extents& e, Arithmetic arithmetic) {
  const DType dtype = dtype_of(arithmetic);
  suite.add(name_of_case("linear/relu", e), dtype, work_of(e, arithmetic), [=](Device& device) {
    const Tensor x = make_input(device, {e.m, e.k}, dtype);
    const Tensor weight = make_input(device, {e.n, e.k}, dtype);
    const Tensor bias = make_input(device, {e.n}, dtype);
    const Tensor y = Tensor::empty({e.m, e.n}, dtype, device);
    return [=, &device] { kernels::linear(device.stream(), x, weight, bias, true, y); };
  });
}

/// What follows the product, backwards; the same in any arithmetic of a dtype.
void add_epilogue(Suite& suite, const Extents& e, DType dtype) {
  const Shape shape{e.m, e.n};
  const Work work{.bytes = bytes_of(dtype) * static_cast<double>(3 * e.m * e.n + e.n)};
  suite.add(name_of_case("linear/epilogue_backward", e), dtype, work, [=](Device& device) {
    const Tensor grad = make_input(device, shape, dtype);
    const Tensor y = make_input(device, shape, dtype);
    const Tensor masked = Tensor::empty(shape, dtype, device);
    const Tensor dbias = Tensor::empty({shape[1]}, dtype, device);
    return [=, &device] {
      kernels::linear_epilogue_backward(device.stream(), grad, y, masked, dbias);
    };
  });
}

}  // namespace

void add_gemm(Suite& suite) {
  const auto extents = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    return Extents{suite.sized(m, 48), suite.sized(n, 48), suite.sized(k, 48)};
  };
  for (const Arithmetic arithmetic : suite.arithmetics()) {
    add_product(suite, extents(576, 64, 64), arithmetic);
    add_product(suite, extents(9216, 64, 64), arithmetic);
    add_product(suite, extents(2304, 256, 256), arithmetic);
    add_product(suite, extents(1024, 384, 1536), arithmetic);
    add_product(suite, extents(2048, 2048, 2048), arithmetic);
    add_product(suite, extents(576, 1, 64), arithmetic);
    add_weight_gradient(suite, extents(64, 64, 576), arithmetic);
    add_weight_gradient(suite, extents(64, 64, 9216), arithmetic);
    add_weight_gradient(suite, extents(256, 256, 2304), arithmetic);
    add_linear(suite, extents(576, 64, 64), arithmetic);
    add_linear(suite, extents(576, 256, 256), arithmetic);
    add_linear(suite, extents(9216, 64, 64), arithmetic);
    if (!suite.on_gpu()) continue;
    add_product(suite, extents(16384, 1024, 4096), arithmetic);
    add_weight_gradient(suite, extents(1024, 1024, 16384), arithmetic);
    add_linear(suite, extents(65536, 256, 256), arithmetic);
  }
  for (const DType dtype : suite.dtypes()) {
    add_epilogue(suite, extents(576, 64, 64), dtype);
    add_epilogue(suite, extents(576, 256, 256), dtype);
    add_epilogue(suite, extents(9216, 64, 64), dtype);
    if (suite.on_gpu()) add_epilogue(suite, extents(65536, 256, 256), dtype);
  }
}

}  // namespace moiety::bench
