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

struct Pass {
  std::vector<float> prediction;
  std::vector<float> gradient;
};

/// A training pass of a model with f32 parameters that computes in `dtype`.
Pass run_pass(const GraphModelConfig& config, Device& device, DType dtype) {
  Initializer init(device, 3);
  const GraphModel model(init, config);
  const FlatParameters parameters(model);
  const FlatBuffer gradients = parameters.make_buffer();
  const auto cpu = make_cpu_device(1);
  const auto molecules = testing::make_toy_molecules(20, 11);
  const GraphBatch batch =
      to_device(testing::make_toy_batch(molecules, 0, molecules.size(), *cpu), device);
  auto context = ForwardContext::training(5, 17);
  context.compute_in(dtype);
  const Variable out = model.forward(batch, context);
  EXPECT_EQ(out.dtype(), DType::f32);
  const Variable loss = ops::regression_loss(out, batch.y, ops::Loss::mse, 1.0 / 20);
  autograd::backward(loss, parameters.parameters(), gradients.views);
  return {out.data().to_vector<float>(), gradients.flat.to_vector<float>()};
}

/// The Euclidean distance over the length of b.
double relative_distance(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0;
  double length = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += std::pow(double{a[i]} - double{b[i]}, 2);
    length += std::pow(double{b[i]}, 2);
  }
  return std::sqrt(difference / length);
}

/// Compares predictions and gradients in two dtypes on one device, for all layers.
void compare(Device& device, DType dtype, NormKind norm, double least, double most) {
  for (const ConvKind conv : {ConvKind::gcn, ConvKind::gin, ConvKind::gine}) {
    const GraphModelConfig config{.conv = conv,
                                  .hidden = 16,
                                  .layers = 3,
                                  .norm = norm,
                                  .dropout = 0.1,
                                  .atom_dims = testing::kToyAtomDims,
                                  .bond_dims = testing::kToyBondDims};
    const Pass exact = run_pass(config, device, DType::f32);
    const Pass other = run_pass(config, device, dtype);
    const double prediction = relative_distance(other.prediction, exact.prediction);
    const double gradient = relative_distance(other.gradient, exact.gradient);
    for (const double distance : {prediction, gradient}) {
      EXPECT_LT(distance, most) << static_cast<int>(conv) << " " << static_cast<int>(norm);
      EXPECT_GT(distance, least) << static_cast<int>(conv) << " " << static_cast<int>(norm);
    }
  }
}

TEST(Precision, LayersComputeInTheDtypeOfTheContext) {
  const auto device = make_cpu_device(1);
  compare(*device, DType::f64, NormKind::none, 0, 1e-5);
  compare(*device, DType::f64, NormKind::layer, 0, 1e-5);
}

TEST(Precision, Bf16OnAGpuStaysNearF32) {
  for (int index = 0; index < cuda_status().count; ++index) {
    const auto device = make_cuda_device(index, 1);
    compare(*device, DType::bf16, NormKind::none, 1e-3, 0.05);
    compare(*device, DType::bf16, NormKind::layer, 1e-3, 0.1);
    // Channels that hardly vary are scaled up, and their rounding with them.
    compare(*device, DType::bf16, NormKind::batch, 1e-3, 0.3);
  }
}

}  // namespace
}  // namespace moiety::nn
