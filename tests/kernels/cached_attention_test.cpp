// SPDX-License-Identifier: Apache-2.0
#include "kernels/cached_attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <vector>

#include "kernels/elementwise.h"
#include "support/devices.h"
#include "support/error_text.h"
#include "tensor/rng.h"
#include "tensor/tensor.h"

namespace moiety::kernels {
namespace {

using Numbers = std::vector<double>;

struct Case {
  std::vector<std::int32_t> positions;
  std::int64_t heads;
  std::int64_t groups;
  std::int64_t width;
  std::int64_t room;
};

const Case kCases[] = {{{0}, 1, 1, 1, 1},
                       {{3, 0, 7}, 4, 4, 6, 8},
                       {{2, 31, 32, 33}, 6, 2, 32, 40},
                       {{127, 130, 5}, 2, 1, 33, 131},
                       {{64, 1}, 3, 3, 128, 65}};

Numbers random_numbers(std::int64_t count, std::uint64_t stream) {
  Numbers out;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto place = static_cast<std::uint64_t>(i);
    out.push_back(std::round(64 * (2.0 * double{random_uniform({5, stream}, place)} - 1)) / 64);
  }
  return out;
}

class CachedAttentionOf : public ::testing::TestWithParam<std::tuple<std::string, DType>> {
 protected:
  /// Of the dtype that is tested; the numbers fit all of them.
  Tensor tensor(const Numbers& values, const Shape& shape) const {
    const Tensor plain = Tensor::from(values, shape, *device_);
    const Tensor out = Tensor::empty(shape, std::get<1>(GetParam()), *device_);
    cast(device_->stream(), plain, out);
    return out;
  }
  Numbers numbers(const Tensor& x) const {
    const Tensor out = Tensor::empty(x.shape(), DType::f64, *device_);
    cast(device_->stream(), x, out);
    return out.to_vector<double>();
  }
  double tolerance() const {
    switch (std::get<1>(GetParam())) {
      case DType::f64:
        return 1e-13;
      case DType::f32:
        return 2e-6;
      case DType::f16:
        return 1e-3;
      default:
        return 8e-3;
    }
  }

  std::unique_ptr<Device> device_ = make_device(std::get<0>(GetParam()), 3);
};

TEST_P(CachedAttentionOf, TheNewestTokenSeesThoseBeforeIt) {
  for (const auto& [positions, heads, groups, width, room] : kCases) {
    SCOPED_TRACE(concat("heads ", heads, ", width ", width));
    const std::int64_t rows = std::ssize(positions);
    const std::int64_t joint = heads + 2 * groups;
    const Numbers x = random_numbers(rows * joint * width, 1);
    const Shape cache{rows, groups, room, width};
    Numbers keys = random_numbers(cache.numel(), 2);
    Numbers values = random_numbers(cache.numel(), 3);
    const Tensor all = tensor(x, {rows, joint, width});
    const Tensor key_cache = tensor(keys, cache);
    const Tensor value_cache = tensor(values, cache);
    const Tensor place = Tensor::from(positions, {rows}, *device_);
    const Tensor out = Tensor::empty({rows, heads, width}, all.dtype(), *device_);
    const double scale = 1 / std::sqrt(static_cast<double>(width));
    cached_attention(device_->stream(),
                     {scale, all.slice(1, 0, heads), all.slice(1, heads, heads + groups),
                      all.slice(1, heads + groups, joint), place, key_cache, value_cache},
                     out);

    const Numbers got = numbers(out);
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t newest = positions[static_cast<std::size_t>(r)];
      const auto of_row = [&](std::int64_t h, std::int64_t d) {
        return x[static_cast<std::size_t>((r * joint + h) * width + d)];
      };
      const auto cached = [&](std::int64_t g, std::int64_t j, std::int64_t d) {
        return static_cast<std::size_t>(((r * groups + g) * room + j) * width + d);
      };
      for (std::int64_t h = 0; h < heads; ++h) {
        const std::int64_t g = h / (heads / groups);
        for (std::int64_t d = 0; d < width; ++d) {
          keys[cached(g, newest, d)] = of_row(heads + g, d);
          values[cached(g, newest, d)] = of_row(heads + groups + g, d);
        }
        Numbers weights;
        double total = 0;
        for (std::int64_t j = 0; j <= newest; ++j) {
          double dot = 0;
          for (std::int64_t d = 0; d < width; ++d) dot += of_row(h, d) * keys[cached(g, j, d)];
          weights.push_back(std::exp(scale * dot));
          total += weights.back();
        }
        for (std::int64_t d = 0; d < width; ++d) {
          double expected = 0;
          for (std::int64_t j = 0; j <= newest; ++j) {
            expected += weights[static_cast<std::size_t>(j)] / total * values[cached(g, j, d)];
          }
          ASSERT_NEAR(got[static_cast<std::size_t>((r * heads + h) * width + d)], expected,
                      tolerance())
              << "row " << r << ", head " << h << ", element " << d;
        }
      }
    }
    EXPECT_EQ(numbers(key_cache), keys);  // the newest are put in, and nothing else is touched
    EXPECT_EQ(numbers(value_cache), values);
  }
}

TEST_P(CachedAttentionOf, ViewsThatDoNotFitAreRefused) {
  const Tensor q = tensor(Numbers(12), {1, 3, 4});
  const Tensor k = tensor(Numbers(8), {1, 2, 4});
  const Tensor room = tensor(Numbers(16), {1, 2, 2, 4});
  const Tensor place = Tensor::from(std::vector<std::int32_t>{0}, {1}, *device_);
  const auto refusal = [&](const CachedAttention& in, const Tensor& out) {
    return testing::error_text<ShapeError>([&] { cached_attention(device_->stream(), in, out); });
  };
  EXPECT_TRUE(testing::says(refusal({1, q, k, k, place, room, room}, q), {"queries [1, 3, 4]"}));
  EXPECT_TRUE(testing::says(refusal({1, k, k, k, place, room.slice(1, 0, 1), room}, k),
                            {"room for keys [1, 1, 2, 4]"}));
  EXPECT_TRUE(testing::says(refusal({1, k, k, k, place, room, room}, q), {"output [1, 3, 4]"}));
}

const auto kName = [](const auto& info) {
  return std::get<0>(info.param) + "_" + std::string(name_of(std::get<1>(info.param)));
};

INSTANTIATE_TEST_SUITE_P(Cpu, CachedAttentionOf,
                         ::testing::Combine(::testing::Values("cpu"),
                                            ::testing::Values(DType::f32, DType::f64)),
                         kName);

std::vector<std::string> gpus() {
  std::vector<std::string> names = testing::devices();
  names.erase(names.begin());
  return names;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CachedAttentionOf);
INSTANTIATE_TEST_SUITE_P(Gpus, CachedAttentionOf,
                         ::testing::Combine(::testing::ValuesIn(gpus()),
                                            ::testing::Values(DType::f32, DType::f64, DType::bf16,
                                                              DType::f16)),
                         kName);

}  // namespace
}  // namespace moiety::kernels
