// SPDX-License-Identifier: Apache-2.0
#include "nn/ema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "nn/toy_module.h"
#include "support/error_text.h"

namespace moiety::nn {
namespace {

class EmaTest : public ::testing::Test {
 protected:
  /// Another set of weights, as an optimizer step would leave them.
  void change_weights(std::uint64_t step) {
    for (const Variable& p : parameters_.parameters()) {
      p.data().copy_from(random_tensor(p.shape(), p.dtype(), 1000 + step, *device_));
    }
  }
  std::vector<double> weights() const { return parameters_.values().to_vector<double>(); }

  std::unique_ptr<Device> device_ = make_cpu_device(1);
  ToyModule module_{*device_, DType::f64};
  FlatParameters parameters_{module_};
};

TEST_F(EmaTest, FollowsTheDefinition) {
  for (const bool warmup : {false, true}) {
    Ema ema(parameters_, 0.9, warmup);
    std::vector<double> expected = weights();
    for (std::uint64_t t = 0; t < 100; ++t) {
      change_weights(t);
      ema.update();
      const double number = static_cast<double>(t);
      const double decay = warmup ? std::min(0.9, (1 + number) / (10 + number)) : 0.9;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        expected[i] = decay * expected[i] + (1 - decay) * weights()[i];
      }
    }
    const std::vector<double> average = ema.average().flat.to_vector<double>();
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(average[i], expected[i], 1e-13);
    EXPECT_EQ(ema.updates(), 100);
  }
}

TEST_F(EmaTest, SwapsInAndOut) {
  Ema ema(parameters_, 0.5);
  const std::vector<double> first = weights();
  change_weights(1);
  const std::vector<double> trained = weights();
  {
    const Ema::Swapped averaged(ema);
    EXPECT_EQ(weights(), first);
    EXPECT_EQ(module_.named_parameters()[0].value.data().to_vector<double>()[0], first[0]);
  }
  EXPECT_EQ(weights(), trained);
  EXPECT_EQ(ema.average().flat.to_vector<double>(), first);
}

TEST_F(EmaTest, GoesOnFromACheckpoint) {
  Ema whole(parameters_, 0.9);
  Checkpoint checkpoint;
  for (std::uint64_t t = 0; t < 6; ++t) {
    change_weights(t);
    whole.update();
    if (t != 2) continue;
    whole.save(checkpoint);
    for (auto& [name, tensor] : checkpoint.tensors) tensor = tensor.clone();
  }
  Ema ema(parameters_, 0.9);
  ema.restore(checkpoint);
  for (std::uint64_t t = 3; t < 6; ++t) {
    change_weights(t);
    ema.update();
  }
  EXPECT_EQ(ema.average().flat.to_vector<double>(), whole.average().flat.to_vector<double>());
  EXPECT_EQ(ema.updates(), 6);
}

TEST_F(EmaTest, RefusesDecaysOutOfRange) {
  for (const double decay : {-0.1, 1.0, std::nan("")}) {
    EXPECT_TRUE(testing::says(testing::error_text<UserError>([&] { Ema(parameters_, decay); }),
                              {"ema: the decay"}));
  }
}

}  // namespace
}  // namespace moiety::nn
