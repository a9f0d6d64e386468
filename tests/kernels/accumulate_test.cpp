// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kernels/elementwise.h"
#include "support/devices.h"
#include "support/error_text.h"
#include "tensor/tensor.h"

namespace moiety::kernels {
namespace {

class AccumulateAll : public ::testing::TestWithParam<std::string> {
 protected:
  Tensor numbers(std::int64_t count, double first) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < count; ++i) {
      values.push_back(static_cast<float>(first + static_cast<double>(i % 1000)));
    }
    return Tensor::from(values, {count}, *device_);
  }

  std::unique_ptr<Device> device_ = make_device(GetParam(), 1);
};

/// Of every size, some of them between packs, more than one launch takes.
TEST_P(AccumulateAll, AddsEachPair) {
  const std::vector<std::int64_t> sizes = {0, 1, 31, 32, 33, 1024, 1025, 5000};
  const Tensor target = numbers(200'000, 0.5);
  std::vector<float> expected = target.to_vector<float>();
  std::vector<Tensor> held;
  std::vector<TensorView> from;
  std::vector<TensorView> into;
  std::int64_t place = 0;
  for (int i = 0; i < 150; ++i) {
    const std::int64_t size = sizes[static_cast<std::size_t>(i) % sizes.size()];
    held.push_back(numbers(size + 3, i).slice(0, i % 4 == 3 ? 3 : 0, size + (i % 4 == 3 ? 3 : 0)));
    held.push_back(target.slice(0, place, place + size));
    from.push_back(held[held.size() - 2]);
    into.push_back(held.back());
    const auto added = held[held.size() - 2].to_vector<float>();
    for (std::int64_t e = 0; e < size; ++e) {
      expected[static_cast<std::size_t>(place + e)] += added[static_cast<std::size_t>(e)];
    }
    place += size + i % 3;
  }
  ASSERT_LE(place, target.numel());
  accumulate_all(device_->stream(), from, into);
  EXPECT_EQ(target.to_vector<float>(), expected);
  accumulate_all(device_->stream(), {}, {});
}

TEST_P(AccumulateAll, NamesWhatDoesNotFit) {
  const Tensor four = numbers(4, 0);
  const Tensor five = numbers(5, 0);
  const std::vector<TensorView> from = {four};
  const std::vector<TensorView> into = {five};
  EXPECT_TRUE(testing::says(
      testing::error_text<ShapeError>([&] { accumulate_all(device_->stream(), from, into); }),
      {"[4] into [5]"}));
  EXPECT_THROW(accumulate_all(device_->stream(), from, {}), ShapeError);
}

INSTANTIATE_TEST_SUITE_P(Devices, AccumulateAll, ::testing::ValuesIn(testing::devices()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace moiety::kernels
