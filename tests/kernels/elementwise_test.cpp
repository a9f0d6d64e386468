// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise.h"

#include <gtest/gtest.h>

#include "tensor/tensor.h"

namespace moiety::kernels {
namespace {

class Elementwise : public ::testing::TestWithParam<int> {
 protected:
  const Stream& stream() { return device_->stream(); }

  std::unique_ptr<Device> device_ = make_cpu_device(GetParam());
};

TEST_P(Elementwise, FillSetsEveryDtype) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16, DType::i64, DType::i32,
                            DType::u8, DType::boolean}) {
    const Tensor t = Tensor::zeros({20000}, dtype, *device_);
    fill(stream(), t, 1.0);
    const Tensor one = Tensor::zeros({1}, dtype, *device_);
    fill(stream(), one, 1.0);
    const std::size_t size = size_of(dtype);
    const auto* bytes = static_cast<const std::byte*>(t.raw_data());
    for (std::size_t i = 0; i < 20000; ++i) {
      ASSERT_TRUE(std::equal(bytes + i * size, bytes + (i + 1) * size,
                             static_cast<const std::byte*>(one.raw_data())))
          << name_of(dtype);
    }
  }
}

TEST_P(Elementwise, CopyTransposesEveryElementSize) {
  for (const DType dtype : {DType::u8, DType::f16, DType::f32, DType::f64}) {
    const Tensor t = Tensor::zeros({3, 70, 45}, dtype, *device_);
    auto* bytes = static_cast<std::uint8_t*>(t.raw_data());
    for (std::size_t i = 0; i < t.bytes(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 % 251);
    const Tensor swapped = t.transpose(1, 2);
    const Tensor out = Tensor::empty(swapped.shape(), dtype, *device_);
    copy(stream(), swapped, out);
    const Tensor expected = swapped.clone();
    EXPECT_TRUE(std::equal(static_cast<const std::byte*>(out.raw_data()),
                           static_cast<const std::byte*>(out.raw_data()) + out.bytes(),
                           static_cast<const std::byte*>(expected.raw_data())))
        << name_of(dtype);
  }
}

TEST_P(Elementwise, AccumulateAddsAStridedView) {
  const Tensor into = Tensor::from(std::vector<float>{1, 2, 3, 4}, {2, 2}, *device_);
  const Tensor from = Tensor::from(std::vector<float>{10, 20, 30, 40}, {2, 2}, *device_);
  accumulate(stream(), from.transpose(0, 1), into);
  EXPECT_EQ(into.to_vector<float>(), (std::vector<float>{11, 32, 23, 44}));
  EXPECT_THROW(accumulate(stream(), from.slice(0, 0, 1), into), Error);
}

TEST_P(Elementwise, OutputMayBeAnInput) {
  const Tensor x = Tensor::from(std::vector<float>(40000, 3.0f), {40000}, *device_);
  unary(stream(), UnaryOp::square, x, x);
  affine(stream(), 2.0, 1.0, x, x);
  EXPECT_EQ(x.to_vector<float>(), std::vector<float>(40000, 19.0f));
}

TEST_P(Elementwise, OutputsMustBeContiguousAndOfTheRightShape) {
  const Tensor x = Tensor::zeros({2, 3}, DType::f32, *device_);
  const Tensor strided = Tensor::zeros({3, 2}, DType::f32, *device_).transpose(0, 1);
  EXPECT_THROW(unary(stream(), UnaryOp::exp, x, strided), Error);
  EXPECT_THROW(unary(stream(), UnaryOp::exp, x, Tensor::zeros({3, 2}, DType::f32, *device_)),
               Error);
  EXPECT_THROW(binary(stream(), BinaryOp::add, x, x, Tensor::zeros({3}, DType::f32, *device_)),
               ShapeError);
}

INSTANTIATE_TEST_SUITE_P(Threads, Elementwise, ::testing::Values(1, 3));

}  // namespace
}  // namespace moiety::kernels
