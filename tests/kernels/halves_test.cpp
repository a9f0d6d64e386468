// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "kernels/cpu_halves.h"
#include "kernels/elementwise.h"
#include "kernels/matmul.h"
#include "kernels/reduce.h"
#include "tensor/rng.h"
#include "tensor/tensor.h"

namespace moiety::kernels {
namespace {

constexpr DType kHalves[] = {DType::bf16, DType::f16};

float scalar(DType dtype, std::uint16_t bits) {
  return dtype == DType::bf16 ? to_float(BFloat16{bits}) : to_float(Float16{bits});
}

std::uint16_t scalar(DType dtype, float x) {
  return dtype == DType::bf16 ? to_bfloat16(x).bits : to_float16(x).bits;
}

TEST(Halves, RunsAreWidenedLikeSingleElements) {
  std::vector<std::uint16_t> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  for (const DType dtype : kHalves) {
    for (const std::int64_t begin : {0, 3}) {  // elements of whole vectors, and others
      std::vector<float> wide(all.size());
      const auto n = static_cast<std::int64_t>(all.size()) - begin;
      cpu::widen(dtype, all.data() + begin, n, wide.data());
      for (std::int64_t i = 0; i < n; ++i) {
        const float got = wide[static_cast<std::size_t>(i)];
        const float expected = scalar(dtype, all[static_cast<std::size_t>(begin + i)]);
        if (std::isnan(expected)) {
          ASSERT_TRUE(std::isnan(got)) << begin + i;
        } else {
          ASSERT_EQ(got, expected) << begin + i;
        }
      }
    }
  }
}

TEST(Halves, RunsAreNarrowedLikeSingleElements) {
  std::vector<float> x;
  for (std::uint64_t i = 0; i < 100'000; ++i) {  // all magnitudes, and ties between two halves
    const auto word = static_cast<std::uint32_t>(random_below({3, 1}, i, std::uint64_t{1} << 32));
    x.push_back(std::bit_cast<float>(word));
    x.push_back(std::bit_cast<float>(word & 0xffff8000u));
    x.push_back(std::bit_cast<float>(word & 0xfffff000u));
  }
  for (const float special : {65504.0f, 65519.0f, 65520.0f, 1e-8f, -0.0f}) x.push_back(special);
  std::vector<std::uint16_t> halves(x.size());
  for (const DType dtype : kHalves) {
    cpu::narrow(x.data(), std::ssize(x), dtype, halves.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(x[i])) {
        ASSERT_TRUE(std::isnan(scalar(dtype, halves[i]))) << i;
      } else {
        ASSERT_EQ(halves[i], scalar(dtype, x[i])) << x[i];
      }
    }
  }
}

/// Values in [-1, 1) that the dtype holds.
Tensor values(const Shape& shape, std::uint64_t stream, DType dtype, Device& device) {
  std::vector<float> x(static_cast<std::size_t>(shape.numel()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(2 * random_uniform({5, stream}, i) - 1);
  }
  Tensor out = Tensor::empty(shape, dtype, device);
  cast(device.stream(), Tensor::from(x, shape, device), out);
  return out;
}

std::vector<float> floats(const Tensor& x) {
  Tensor out = Tensor::empty(x.shape(), DType::f32, x.device());
  cast(x.device().stream(), x, out);
  return out.to_vector<float>();
}

struct Sizes {
  std::int64_t m, n, k;
};

class HalfProducts : public ::testing::TestWithParam<Sizes> {
 protected:
  static double tolerance(DType dtype) { return dtype == DType::bf16 ? 0x1p-8 : 0x1p-11; }
  std::unique_ptr<Device> device_ = make_cpu_device(2);
  const Stream& stream_ = device_->stream();
};

/// One element of alpha op(a) op(b) in f64, and the sum of the terms' sizes.
struct Element {
  double value = 0;
  double size = 0;
};

TEST_P(HalfProducts, AreAddedUpInF32) {
  const auto [m, n, k] = GetParam();
  struct Factors {
    double alpha, beta;
  };
  for (const DType dtype : kHalves) {
    for (int way = 0; way < 4; ++way) {
      const bool ta = (way & 1) != 0;
      const bool tb = (way & 2) != 0;
      const Tensor a = values(ta ? Shape{k, m} : Shape{m, k}, 1, dtype, *device_);
      const Tensor b = values(tb ? Shape{n, k} : Shape{k, n}, 2, dtype, *device_);
      const Tensor before = values({m, n}, 3, dtype, *device_);
      const auto left = floats(a);
      const auto right = floats(b);
      const auto old = floats(before);
      for (const auto [alpha, beta] : {Factors{1, 0}, Factors{1, 1}, Factors{0.5, -2}}) {
        const Tensor c = before.clone();
        gemm(stream_, ta, tb, alpha, a, b, beta, c);
        const auto got = floats(c);
        for (std::int64_t at = 0; at < m * n; at += 1 + m * n / 97) {
          const std::int64_t i = at / n;
          const std::int64_t j = at % n;
          const auto place = static_cast<std::size_t>(at);
          Element sum{beta * old[place], std::abs(beta * old[place])};
          for (std::int64_t p = 0; p < k; ++p) {
            const double term = alpha * left[static_cast<std::size_t>(ta ? p * m + i : i * k + p)] *
                                right[static_cast<std::size_t>(tb ? j * k + p : p * n + j)];
            sum.value += term;
            sum.size += std::abs(term);
          }
          ASSERT_NEAR(got[place], sum.value,
                      tolerance(dtype) * std::abs(sum.value) + 1e-6 * sum.size + 1e-7)
              << name_of(dtype) << " way " << way << " alpha " << alpha << " at " << at;
        }
      }
    }
  }
}

TEST_P(HalfProducts, BiasAndReluComeBeforeTheRounding) {
  const auto [m, n, k] = GetParam();
  for (const DType dtype : kHalves) {
    const Tensor x = values({m, k}, 1, dtype, *device_);
    const Tensor weight = values({n, k}, 2, dtype, *device_);
    const Tensor bias = values({n}, 4, dtype, *device_);
    const Tensor out = Tensor::empty({m, n}, dtype, *device_);
    const auto left = floats(x);
    const auto right = floats(weight);
    const auto shift = floats(bias);
    for (const bool relu : {false, true}) {
      linear(stream_, x, weight, bias, relu, out);
      const auto got = floats(out);
      for (std::int64_t at = 0; at < m * n; at += 1 + m * n / 89) {
        double sum = shift[static_cast<std::size_t>(at % n)];
        for (std::int64_t p = 0; p < k; ++p) {
          sum += double{left[static_cast<std::size_t>(at / n * k + p)]} *
                 right[static_cast<std::size_t>(at % n * k + p)];
        }
        if (relu) sum = std::max(sum, 0.0);
        ASSERT_NEAR(got[static_cast<std::size_t>(at)], sum,
                    tolerance(dtype) * std::abs(sum) + 1e-6 * static_cast<double>(k + 1));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, HalfProducts,
                         ::testing::Values(Sizes{1, 1, 1}, Sizes{3, 5, 7}, Sizes{64, 48, 33},
                                           Sizes{5, 3, 0}, Sizes{200, 130, 70},
                                           Sizes{16, 24, 5000}),
                         [](const auto& each) {
                           return concat(each.param.m, "x", each.param.n, "x", each.param.k);
                         });

TEST(Halves, SameBitsOnAnyNumberOfThreads) {
  const auto run = [](int threads, DType dtype) {
    const auto device = make_cpu_device(threads);
    const Tensor a = values({600, 120}, 1, dtype, *device);
    const Tensor c = Tensor::empty({120, 120}, dtype, *device);
    const Tensor d = Tensor::empty({600, 120}, dtype, *device);
    gemm(device->stream(), true, false, 1, a, a, 0, c);
    gemm(device->stream(), false, true, 1, a, c, 0, d);
    unary(device->stream(), UnaryOp::gelu, d, d);
    softmax(device->stream(), d, d);
    return floats(d);
  };
  for (const DType dtype : kHalves) EXPECT_EQ(run(1, dtype), run(3, dtype));
}

TEST(Halves, StridedAndBroadcastOperandsAreTheirElements) {
  const auto device = make_cpu_device(2);
  const Stream& stream = device->stream();
  for (const DType dtype : kHalves) {
    const Tensor x = values({37, 700}, 1, dtype, *device);  // rows of more than one run
    const Tensor row = values({700}, 2, dtype, *device);
    const Tensor turned = Tensor::empty({700, 37}, dtype, *device);
    copy(stream, x.transpose(0, 1), turned);
    const Tensor dense = Tensor::empty({37, 700}, dtype, *device);
    const Tensor strided = Tensor::empty({37, 700}, dtype, *device);
    binary(stream, BinaryOp::mul, x, row, dense);
    binary(stream, BinaryOp::mul, turned.transpose(0, 1), row, strided);
    const auto left = floats(x);
    const auto right = floats(row);
    const auto got = floats(dense);
    EXPECT_EQ(floats(strided), got);
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i], scalar(dtype, scalar(dtype, left[i] * right[i % 700])));
    }
  }
}

TEST(Halves, OneOperationTakesOneDtype) {
  const auto device = make_cpu_device(1);
  const Tensor x = values({4}, 1, DType::bf16, *device);
  const Tensor y = values({4}, 2, DType::f16, *device);
  EXPECT_THROW(binary(device->stream(), BinaryOp::add, x, y, x), DTypeError);
  EXPECT_THROW(unary(device->stream(), UnaryOp::exp, x, y), DTypeError);
}

}  // namespace
}  // namespace moiety::kernels
