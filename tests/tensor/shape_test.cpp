// SPDX-License-Identifier: Apache-2.0
#include "tensor/shape.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace moiety {
namespace {

TEST(Shape, HoldsItsExtents) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(shape.ndim(), 3);
  EXPECT_EQ(shape[1], 3);
  EXPECT_EQ(shape.back(), 4);
  EXPECT_EQ(shape.numel(), 24);
  EXPECT_EQ(to_string(shape), "[2, 3, 4]");
  EXPECT_EQ(Shape{}.numel(), 1);
  EXPECT_EQ(to_string(Shape{}), "[]");
}

TEST(Shape, ComparesByExtents) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_NE((Shape{2, 3}), (Shape{3, 2}));
  EXPECT_NE((Shape{2}), (Shape{2, 1}));
  EXPECT_NE(Shape{}, Shape{0});
}

TEST(Shape, RefusesMoreThanSixDimensions) {
  EXPECT_THROW((Shape{1, 1, 1, 1, 1, 1, 1}), ShapeError);
  EXPECT_THROW(Shape(std::vector<std::int64_t>(1000, 1)), ShapeError);
  Shape shape{1, 2, 3, 4, 5};
  shape.push_back(6);
  EXPECT_EQ(shape.numel(), 720);
  EXPECT_THROW(shape.push_back(7), ShapeError);
}

TEST(Shape, CheckedNumelRefusesWhatNoTensorCanHave) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 60;
  EXPECT_EQ(checked_numel({3, 0, 5}), 0);
  EXPECT_EQ(checked_numel({kHuge}), kHuge);
  EXPECT_THROW(checked_numel({-1, 4}), ShapeError);
  EXPECT_THROW(checked_numel({-2, -3}), ShapeError);
  EXPECT_THROW(checked_numel({kHuge, 2}), ShapeError);
  EXPECT_THROW(checked_numel({INT64_MAX, INT64_MAX}), ShapeError);
  EXPECT_THROW(checked_numel({0, kHuge, kHuge}), ShapeError) << "its strides would overflow";
}

TEST(Shape, ContiguousStridesAreRowMajor) {
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (Shape{12, 4, 1}));
  EXPECT_EQ(contiguous_strides({}), Shape{});
  EXPECT_EQ(contiguous_strides({5}), Shape{1});
}

struct BroadcastCase {
  Shape a, b, out;
};

TEST(Broadcast, FollowsNumPy) {
  const std::vector<BroadcastCase> cases = {
      {{2, 3}, {2, 3}, {2, 3}}, {{2, 3}, {3}, {2, 3}},    {{2, 1}, {1, 3}, {2, 3}},
      {{}, {4, 5}, {4, 5}},     {{1}, {7}, {7}},          {{4, 1, 6}, {5, 1}, {4, 5, 6}},
      {{0, 3}, {1, 3}, {0, 3}}, {{1, 3}, {0, 3}, {0, 3}}, {{}, {}, {}},
  };
  for (const auto& [a, b, out] : cases) {
    EXPECT_EQ(broadcast_shapes(a, b), out) << a << " with " << b;
    EXPECT_EQ(broadcast_shapes(b, a), out) << b << " with " << a;
  }
}

TEST(Broadcast, NamesBothShapesWhereTheyDoNotFit) {
  try {
    broadcast_shapes({2, 3}, {4, 3});
    FAIL() << "no error";
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(), "shapes [2, 3] and [4, 3] do not broadcast");
  }
  EXPECT_THROW(broadcast_shapes({0}, {2}), ShapeError);
}

TEST(NormalizeDim, CountsFromTheEndWhenNegative) {
  EXPECT_EQ(normalize_dim(0, 3), 0);
  EXPECT_EQ(normalize_dim(-1, 3), 2);
  EXPECT_EQ(normalize_dim(-3, 3), 0);
  for (int dim : {3, -4, 100}) EXPECT_THROW(normalize_dim(dim, 3), ShapeError) << dim;
  EXPECT_THROW(normalize_dim(0, 0), ShapeError);
}

}  // namespace
}  // namespace moiety
