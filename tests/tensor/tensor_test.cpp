// SPDX-License-Identifier: Apache-2.0
#include "tensor/tensor.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>

namespace moiety {
namespace {

class TensorTest : public testing::Test {
 protected:
  /// 0, 1, 2, ... in the shape.
  Tensor iota(const Shape& shape) {
    std::vector<float> values(static_cast<std::size_t>(shape.numel()));
    std::iota(values.begin(), values.end(), 0.0f);
    return Tensor::from(values, shape, *device_);
  }

  std::unique_ptr<Device> device_ = make_cpu_device(1);
};

using Floats = std::vector<float>;

TEST_F(TensorTest, IsContiguousAlignedAndOnItsDevice) {
  const Tensor x = Tensor::empty({2, 3}, DType::f64, *device_);
  EXPECT_EQ(x.shape(), (Shape{2, 3}));
  EXPECT_EQ(x.strides(), (Shape{3, 1}));
  EXPECT_EQ(x.dtype(), DType::f64);
  EXPECT_EQ(x.bytes(), 48u);
  EXPECT_EQ(x.size(-1), 3);
  EXPECT_EQ(&x.device(), device_.get());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.raw_data()) % 64, 0u);
}

TEST_F(TensorTest, ZerosAreZeroInReusedMemory) {
  { iota({100}); }
  for (float x : Tensor::zeros({100}, DType::f32, *device_).to_vector<float>()) EXPECT_EQ(x, 0.0f);
}

TEST_F(TensorTest, HoldsEveryDType) {
  const Tensor bytes = Tensor::from(std::vector<std::uint8_t>{1, 255}, {2}, *device_);
  EXPECT_EQ(bytes.to_vector<std::uint8_t>(), (std::vector<std::uint8_t>{1, 255}));
  const std::array<bool, 2> flags = {true, false};
  const Tensor mask = Tensor::from(std::span<const bool>(flags), {2}, *device_);
  EXPECT_EQ(mask.dtype(), DType::boolean);
  EXPECT_EQ(mask.slice(0, 0, 1).item(), 1.0);
  EXPECT_EQ(mask.slice(0, 1, 2).item(), 0.0);
}

TEST_F(TensorTest, ItemReadsEveryDTypeAndOneElementOnly) {
  EXPECT_EQ(Tensor::from(std::vector<double>{0.1}, {}, *device_).item(), 0.1);
  EXPECT_EQ(Tensor::from(std::vector<std::int64_t>{-5}, {1}, *device_).item(), -5.0);
  EXPECT_EQ(Tensor::from(std::vector<std::int32_t>{7}, {1, 1}, *device_).item(), 7.0);
  EXPECT_EQ(Tensor::from(std::vector<std::uint8_t>{200}, {1}, *device_).item(), 200.0);
  EXPECT_EQ(Tensor::from(std::vector<BFloat16>{to_bfloat16(1.5f)}, {1}, *device_).item(), 1.5);
  EXPECT_EQ(Tensor::from(std::vector<Float16>{to_float16(-2.5f)}, {1}, *device_).item(), -2.5);
  EXPECT_THROW(iota({2}).item(), ShapeError);
  EXPECT_THROW(iota({0}).item(), ShapeError);
}

TEST_F(TensorTest, CopiesShareAndClonesDoNot) {
  const Tensor x = iota({3});
  const Tensor shared = x;
  const Tensor copy = x.clone();
  x.data<float>()[1] = 9;
  EXPECT_EQ(shared.to_vector<float>(), (Floats{0, 9, 2}));
  EXPECT_EQ(copy.to_vector<float>(), (Floats{0, 1, 2}));
}

TEST_F(TensorTest, SliceTransposeAndExpandLookIntoTheSameData) {
  const Tensor x = iota({3, 4});
  EXPECT_EQ(x.slice(0, 1, 3).to_vector<float>(), (Floats{4, 5, 6, 7, 8, 9, 10, 11}));
  const Tensor columns = x.slice(-1, 1, 3);
  EXPECT_FALSE(columns.contiguous());
  EXPECT_EQ(columns.to_vector<float>(), (Floats{1, 2, 5, 6, 9, 10}));
  EXPECT_EQ(columns.transpose(0, 1).to_vector<float>(), (Floats{1, 5, 9, 2, 6, 10}));
  EXPECT_EQ(iota({2, 1}).expand({2, 2, 3}).to_vector<float>(),
            (Floats{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1}));
  columns.transpose(0, 1).slice(0, 1, 2).data<float>()[0] = -1;
  EXPECT_EQ(x.to_vector<float>()[2], -1.0f);
}

TEST_F(TensorTest, PermutedViewsOfThreeDimensionsAreCopiedInOrder) {
  const Tensor x = iota({2, 3, 4});
  const Floats got = x.transpose(0, 2).to_vector<float>();  // [4, 3, 2]
  Floats expected;
  for (int k = 0; k < 4; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) expected.push_back(static_cast<float>((i * 3 + j) * 4 + k));
    }
  }
  EXPECT_EQ(got, expected);
  EXPECT_TRUE(x.transpose(0, 2).contiguous_copy().contiguous());
}

// A stride of an extent of 1 means nothing: such views are contiguous and can be reshaped.
TEST_F(TensorTest, ViewsWithExtentsOfOneAreContiguousWhenTheirDataIs) {
  const Tensor column = iota({5, 1});
  EXPECT_TRUE(column.transpose(0, 1).contiguous());
  EXPECT_EQ(column.transpose(0, 1).strides(), (Shape{5, 1}));
  EXPECT_EQ(column.transpose(0, 1).reshape({5}).to_vector<float>(), (Floats{0, 1, 2, 3, 4}));
  EXPECT_TRUE(iota({4, 3}).slice(0, 2, 3).contiguous());
  EXPECT_TRUE(iota({4, 3}).slice(1, 2, 3).slice(0, 1, 2).contiguous());
  EXPECT_TRUE(iota({3}).expand({1, 3}).contiguous());
  EXPECT_FALSE(iota({1, 3}).expand({2, 3}).contiguous());
}

TEST_F(TensorTest, ReshapeInfersOneExtent) {
  const Tensor x = iota({2, 6});
  EXPECT_EQ(x.reshape({3, -1}).shape(), (Shape{3, 4}));
  EXPECT_EQ(x.reshape({-1}).shape(), (Shape{12}));
  EXPECT_EQ(x.reshape({3, 4}).raw_data(), x.raw_data());
  EXPECT_EQ(iota({1}).reshape({}).ndim(), 0);
  EXPECT_EQ(iota({0, 3}).reshape({3, -1}).shape(), (Shape{3, 0}));
}

TEST_F(TensorTest, ReshapeRefusesWhatDoesNotFit) {
  const Tensor x = iota({2, 3});
  EXPECT_THROW(x.reshape({4}), ShapeError);
  EXPECT_THROW(x.reshape({-1, -1}), ShapeError);
  EXPECT_THROW(x.reshape({4, -1}), ShapeError);
  EXPECT_THROW(x.reshape({-2, -3}), ShapeError) << "the product alone would fit";
  EXPECT_THROW(x.reshape({INT64_MAX, INT64_MAX}), ShapeError);
  EXPECT_THROW(x.transpose(0, 1).reshape({6}), ShapeError);
}

TEST_F(TensorTest, SliceAndExpandRefuseWhatIsOutOfRange) {
  const Tensor x = iota({2, 3});
  EXPECT_THROW(x.slice(0, 0, 3), ShapeError);
  EXPECT_THROW(x.slice(0, -1, 1), ShapeError);
  EXPECT_THROW(x.slice(0, 2, 1), ShapeError);
  EXPECT_THROW(x.slice(2, 0, 1), ShapeError);
  EXPECT_EQ(x.slice(0, 2, 2).numel(), 0);
  EXPECT_THROW(x.expand({3}), ShapeError);
  EXPECT_THROW(x.expand({2, 4}), ShapeError);
  EXPECT_THROW(iota({1}).expand({std::int64_t{1} << 40, std::int64_t{1} << 40}), ShapeError);
  EXPECT_THROW(iota({1}).expand({-4}), ShapeError);
}

TEST_F(TensorTest, EmptyTensorsWork) {
  const Tensor x = iota({0, 3});
  EXPECT_EQ(x.numel(), 0);
  EXPECT_TRUE(x.transpose(0, 1).clone().to_vector<float>().empty());
  x.copy_from(x.clone());
  x.fill_zero();
}

TEST_F(TensorTest, CopyFromHandlesStridesAndOverlap) {
  const Tensor x = iota({3, 3});
  x.copy_from(x.transpose(0, 1));
  EXPECT_EQ(x.to_vector<float>(), (Floats{0, 3, 6, 1, 4, 7, 2, 5, 8}));
  const Tensor y = iota({5});
  y.slice(0, 1, 5).copy_from(y.slice(0, 0, 4));
  EXPECT_EQ(y.to_vector<float>(), (Floats{0, 0, 1, 2, 3}));
  y.copy_from(iota({1}).expand({5}));
  EXPECT_EQ(y.to_vector<float>(), Floats(5, 0.0f));
}

TEST_F(TensorTest, CopyFromChecksShapeDTypeLayoutAndDevice) {
  const Tensor x = iota({2, 2});
  const auto other = make_cpu_device(1);
  EXPECT_THROW(x.copy_from(iota({4})), ShapeError);
  EXPECT_THROW(x.copy_from(Tensor::zeros({2, 2}, DType::f64, *device_)), DTypeError);
  EXPECT_THROW(x.slice(1, 0, 1).copy_from(iota({2, 1})), ShapeError);
  EXPECT_THROW(x.copy_from(Tensor::zeros({2, 2}, DType::f32, *other)), Error);
  EXPECT_THROW(x.transpose(0, 1).fill_zero(), ShapeError);
}

TEST_F(TensorTest, MovesBetweenDevices) {
  const auto other = make_cpu_device(1);
  const Tensor x = iota({2, 3}).transpose(0, 1);
  const Tensor moved = x.to(*other);
  EXPECT_EQ(&moved.device(), other.get());
  EXPECT_EQ(moved.to_vector<float>(), x.to_vector<float>());
  EXPECT_EQ(x.to(*device_).raw_data(), x.raw_data());
  check_same_device({&x, &x});
  const Tensor undefined;
  check_same_device({&undefined, &x});
  EXPECT_THROW(check_same_device({&x, &moved}), Error);
}

TEST_F(TensorTest, FromChecksTheNumberOfValues) {
  const Floats values(6);
  EXPECT_THROW(Tensor::from(values, {2, 4}, *device_), ShapeError);
  EXPECT_THROW(Tensor::from(values, {-2, -3}, *device_), ShapeError);
}

TEST_F(TensorTest, HugeShapesAreRefusedBeforeAllocation) {
  const auto before = device_->allocator().stats().system_calls;
  EXPECT_THROW(Tensor::empty({INT64_MAX, 2}, DType::f32, *device_), ShapeError);
  EXPECT_THROW(Tensor::empty({std::int64_t{1} << 60}, DType::f64, *device_), Error);
  EXPECT_THROW(Tensor::empty({-1}, DType::f32, *device_), ShapeError);
  EXPECT_EQ(device_->allocator().stats().system_calls, before);
}

TEST_F(TensorTest, TypesAreCheckedByNameOfBoth) {
  const Tensor x = iota({2});
  EXPECT_THROW(x.to_vector<double>(), DTypeError);
  try {
    x.data<std::int64_t>();
    FAIL() << "no error";
  } catch (const DTypeError& error) {
    EXPECT_STREQ(error.what(), "expected i64, got f32");
  }
}

TEST_F(TensorTest, UndefinedTensorsThrowInsteadOfCrashing) {
  const Tensor undefined;
  EXPECT_FALSE(undefined.defined());
  EXPECT_THROW(undefined.device(), Error);
  EXPECT_THROW(undefined.raw_data(), Error);
  EXPECT_THROW(undefined.view(), Error);
  EXPECT_THROW(undefined.clone(), Error);
  EXPECT_THROW(undefined.reshape({1}), Error);
  EXPECT_THROW(undefined.expand({3}), Error);
  EXPECT_THROW(undefined.slice(0, 0, 1), Error);
  EXPECT_THROW(undefined.transpose(0, 0), Error);
  EXPECT_THROW(undefined.to(*device_), Error);
  EXPECT_THROW(undefined.item(), Error);
  EXPECT_THROW(undefined.fill_zero(), Error);
  EXPECT_THROW(iota({}).copy_from(undefined), Error);
}

TEST(Error, ChecksStreamTheirPartsAndInvariantsNameTheirPlace) {
  EXPECT_NO_THROW(check(true, "never"));
  try {
    check<IoError>(false, "row ", 3, " of ", "data.csv");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "row 3 of data.csv");
  }
  try {
    MOIETY_CHECK(1 + 1 == 3, "arithmetic holds");
    FAIL() << "no error";
  } catch (const Error& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("tensor_test.cpp:"), std::string::npos) << what;
    EXPECT_NE(what.find("1 + 1 == 3 does not hold. arithmetic holds"), std::string::npos) << what;
  }
}

TEST(TensorPart, LooksIntoABlockOfBytes) {
  const auto device = make_cpu_device(1);
  const Tensor block = Tensor::zeros({256}, DType::u8, *device);
  const Tensor floats = block.part(64, {2, 3}, DType::f32);
  floats.copy_from(Tensor::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3}, *device));
  EXPECT_EQ(block.part(64, {6}, DType::f32).to_vector<float>()[5], 6);
  EXPECT_EQ(block.slice(0, 64, 256).part(64, {2}, DType::f64).to_vector<double>()[0], 0);
  EXPECT_THROW(block.part(64, {49}, DType::f32), ShapeError);
  EXPECT_THROW(block.part(32, {1}, DType::f32), ShapeError);
  EXPECT_THROW(block.part(-64, {1}, DType::f32), ShapeError);
  EXPECT_THROW(floats.part(0, {1}, DType::f32), DTypeError);
}

}  // namespace
}  // namespace moiety
