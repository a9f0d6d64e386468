// SPDX-License-Identifier: Apache-2.0
#include "tensor/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

namespace moiety {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// The value of a small IEEE format, from the definition.
double reference_value(std::uint16_t bits, int fraction_bits, int exponent_bits) {
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const int exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double sign = bits & 0x8000u ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

struct BFloat16Format {
  static constexpr int kFraction = 7, kExponent = 8;
  static constexpr std::uint16_t kInfinityBits = 0x7f80;
  static float decode(std::uint16_t bits) { return to_float(BFloat16{bits}); }
  static std::uint16_t encode(float x) { return to_bfloat16(x).bits; }
};

struct Float16Format {
  static constexpr int kFraction = 10, kExponent = 5;
  static constexpr std::uint16_t kInfinityBits = 0x7c00;
  static float decode(std::uint16_t bits) { return to_float(Float16{bits}); }
  static std::uint16_t encode(float x) { return to_float16(x).bits; }
};

template <class Format>
class SmallFloat : public testing::Test {};
using Formats = testing::Types<BFloat16Format, Float16Format>;
TYPED_TEST_SUITE(SmallFloat, Formats);

TYPED_TEST(SmallFloat, EveryPatternDecodesToItsValueAndBack) {
  for (std::uint32_t pattern = 0; pattern <= 0xffffu; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const double expected = reference_value(bits, TypeParam::kFraction, TypeParam::kExponent);
    const float value = TypeParam::decode(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << pattern;
      ASSERT_TRUE(std::isnan(TypeParam::decode(TypeParam::encode(value)))) << pattern;
    } else {
      ASSERT_EQ(value, expected) << pattern;
      ASSERT_EQ(std::signbit(value), std::signbit(expected)) << pattern;
      ASSERT_EQ(TypeParam::encode(value), bits) << pattern;
    }
  }
}

// Rounding can only change at the midpoints between neighbours: all of them, and the floats on
// either side, cover every case.
TYPED_TEST(SmallFloat, RoundsToNearestEvenAroundEveryMidpoint) {
  for (std::uint16_t bits = 0; bits + 1 < TypeParam::kInfinityBits; ++bits) {
    const auto next = static_cast<std::uint16_t>(bits + 1);
    const auto middle =
        static_cast<float>((double{TypeParam::decode(bits)} + double{TypeParam::decode(next)}) / 2);
    const std::uint16_t even = bits % 2 == 0 ? bits : next;
    for (const std::uint16_t sign : {0x0000, 0x8000}) {
      const float s = sign ? -1.0f : 1.0f;
      ASSERT_EQ(TypeParam::encode(s * middle), sign | even) << bits;
      ASSERT_EQ(TypeParam::encode(s * std::nextafter(middle, 0.0f)), sign | bits) << bits;
      ASSERT_EQ(TypeParam::encode(s * std::nextafter(middle, kInfinity)), sign | next) << bits;
    }
  }
}

TYPED_TEST(SmallFloat, OverflowsToInfinityFromHalfAStepAboveTheLargest) {
  const std::uint16_t largest = TypeParam::kInfinityBits - 1;
  const double top = TypeParam::decode(largest);
  const double step = top - TypeParam::decode(largest - 1);
  const auto edge = static_cast<float>(top + step / 2);
  EXPECT_EQ(TypeParam::encode(edge), TypeParam::kInfinityBits);
  EXPECT_EQ(TypeParam::encode(std::nextafter(edge, 0.0f)), largest);
  EXPECT_EQ(TypeParam::encode(-edge), TypeParam::kInfinityBits | 0x8000);
  EXPECT_EQ(TypeParam::encode(std::numeric_limits<float>::max()), TypeParam::kInfinityBits);
}

TYPED_TEST(SmallFloat, NansWithALowPayloadStayNans) {
  for (const std::uint32_t bits : {0x7f800001u, 0xff800001u, 0x7fffffffu}) {
    EXPECT_TRUE(std::isnan(TypeParam::decode(TypeParam::encode(std::bit_cast<float>(bits)))));
  }
}

TEST(DType, NamesSizesAndKinds) {
  const std::map<DType, std::pair<std::string, std::size_t>> expected = {
      {DType::f32, {"f32", 4}}, {DType::f64, {"f64", 8}},     {DType::bf16, {"bf16", 2}},
      {DType::f16, {"f16", 2}}, {DType::i64, {"i64", 8}},     {DType::i32, {"i32", 4}},
      {DType::u8, {"u8", 1}},   {DType::boolean, {"bool", 1}}};
  for (const auto& [dtype, facts] : expected) {
    EXPECT_EQ(name_of(dtype), facts.first);
    EXPECT_EQ(concat(dtype), facts.first);
    EXPECT_EQ(size_of(dtype), facts.second);
    EXPECT_EQ(is_floating(dtype), facts.first.find('f') != std::string::npos) << facts.first;
    EXPECT_EQ(visit_any(dtype, []<class T>() { return kDTypeOf<T>; }), dtype);
  }
}

TEST(DType, VisitFloatTakesFloatAndDoubleOnly) {
  EXPECT_EQ(visit_float(DType::f32, []<class T>() { return sizeof(T); }), 4u);
  EXPECT_EQ(visit_float(DType::f64, []<class T>() { return sizeof(T); }), 8u);
  for (DType dtype : {DType::bf16, DType::f16, DType::i64, DType::i32, DType::u8, DType::boolean}) {
    EXPECT_THROW(visit_float(dtype, []<class T>() { return sizeof(T); }), DTypeError) << dtype;
  }
}

}  // namespace
}  // namespace moiety
