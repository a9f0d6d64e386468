// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "autograd/engine.h"
#include "autograd/ops/loss.h"
#include "nn/flat_parameters.h"
#include "nn/graph_model.h"
#include "support/toy_graphs.h"

namespace moiety::nn {
namespace {

struct Result {
  double loss = 0;
  std::vector<float> gradient;
};

/// Loss and gradient of one training step, with dropout, from the same weights on any device.
Result train_once(ConvKind conv, bool attention, NormKind norm, Device& device) {
  Initializer init(device, 3);
  const GraphModel model(init, {.conv = conv,
                                .hidden = 40,
                                .layers = 3,
                                .norm = norm,
                                .dropout = 0.2,
                                .attention = attention,
                                .attention_dropout = 0.1,
                                .atom_dims = testing::kToyAtomDims,
                                .bond_dims = testing::kToyBondDims});
  const FlatParameters parameters(model);
  const FlatBuffer gradients = parameters.make_buffer();
  const auto molecules = testing::make_toy_molecules(60, 11);
  const GraphBatch batch = testing::make_toy_batch(molecules, 0, 60, device);
  auto context = ForwardContext::training(5, 17);
  const Variable loss =
      ops::regression_loss(model.forward(batch, context), batch.y, ops::Loss::huber, 1.0 / 60);
  autograd::backward(loss, parameters.parameters(), gradients.views);
  return {loss.item(), gradients.flat.to_vector<float>()};
}

/// On the first GPU, or the emulated one; without either there is nothing to instantiate.
class ModelOnGpu : public ::testing::TestWithParam<std::tuple<ConvKind, bool, NormKind>> {};

TEST_P(ModelOnGpu, LearnsWhatTheCpuDoes) {
  const auto [conv, attention, norm] = GetParam();
  const Result cpu = train_once(conv, attention, norm, *make_cpu_device(1));
  const Result gpu = train_once(conv, attention, norm, *make_cuda_device(0, 1));
  EXPECT_NEAR(gpu.loss, cpu.loss, 1e-5 * std::fabs(cpu.loss));
  ASSERT_EQ(gpu.gradient.size(), cpu.gradient.size());
  float largest = 0;
  for (const float g : cpu.gradient) largest = std::max(largest, std::fabs(g));
  ASSERT_GT(largest, 0);
  for (std::size_t i = 0; i < cpu.gradient.size(); ++i) {
    ASSERT_NEAR(gpu.gradient[i], cpu.gradient[i], 2e-5 * largest) << "element " << i;
  }
}

std::vector<std::tuple<ConvKind, bool, NormKind>> models() {
  std::vector<std::tuple<ConvKind, bool, NormKind>> out;
  if (cuda_status().count == 0) return out;
  for (const NormKind norm : {NormKind::none, NormKind::layer, NormKind::batch}) {
    for (const ConvKind conv : {ConvKind::gcn, ConvKind::gin, ConvKind::gine}) {
      out.emplace_back(conv, false, norm);
    }
    out.emplace_back(ConvKind::gine, true, norm);
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, ModelOnGpu, ::testing::ValuesIn(models()));
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ModelOnGpu);

}  // namespace
}  // namespace moiety::nn
