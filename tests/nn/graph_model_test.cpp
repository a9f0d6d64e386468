// SPDX-License-Identifier: Apache-2.0
#include "nn/graph_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autograd/engine.h"
#include "autograd/grad_mode.h"
#include "autograd/gradcheck.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/loss.h"
#include "autograd/ops/message_passing.h"
#include "autograd/ops/reduce.h"
#include "nn/parallel_step.h"
#include "support/toy_graphs.h"

namespace moiety::nn {
namespace {

using testing::kToyAtomDims;
using testing::kToyBondDims;
using testing::make_toy_batch;
using testing::make_toy_molecules;

struct Layers {
  ConvKind conv = ConvKind::gcn;
  bool attention = false;
};

GraphModelConfig toy_config(Layers layers, NormKind norm = NormKind::none) {
  return {.conv = layers.conv,
          .hidden = 16,
          .layers = 3,
          .norm = norm,
          .attention = layers.attention,
          .heads = 2,
          .atom_dims = kToyAtomDims,
          .bond_dims = kToyBondDims};
}

std::vector<float> predict(const GraphModel& model, const GraphBatch& batch) {
  const autograd::NoGrad no_grad;
  ForwardContext context;
  return model.forward(batch, context).data().to_vector<float>();
}

/// Loss and flat gradient of a batch cut into parts.
std::pair<double, std::vector<float>> loss_and_gradient(const GraphModelConfig& config, int threads,
                                                        std::size_t parts) {
  const auto device = make_cpu_device(threads);
  Initializer init(*device, 3);
  const GraphModel model(init, config);
  const FlatParameters parameters(model);
  const FlatBuffer gradients = parameters.make_buffer();
  const auto molecules = make_toy_molecules(60, 11);
  std::vector<GraphBatch> batches;
  std::int64_t nodes = 0;
  for (std::size_t p = 0; p < parts; ++p) {
    batches.push_back(make_toy_batch(molecules, 60 * p / parts, 60 * (p + 1) / parts, *device));
    batches.back().first_node = nodes;
    nodes += batches.back().nodes();
  }
  ParallelStep step(parameters, !model.couples_molecules());
  const double loss = step.run(
      static_cast<std::int64_t>(parts),
      [&](std::int64_t i) {
        const GraphBatch& part = batches[static_cast<std::size_t>(i)];
        auto context = ForwardContext::training(5, 17);
        return ops::regression_loss(model.forward(part, context), part.y, ops::Loss::huber,
                                    1.0 / 60);
      },
      gradients);
  return {loss, gradients.flat.to_vector<float>()};
}

class EveryConv : public ::testing::TestWithParam<Layers> {};

TEST_P(EveryConv, ParametersAreCountedWithoutBuildingIt) {
  const auto device = make_cpu_device(1);
  for (const NormKind norm : {NormKind::none, NormKind::layer, NormKind::batch}) {
    for (const bool categorical : {true, false}) {
      GraphModelConfig config = toy_config(GetParam(), norm);
      config.head_layers = 3;
      config.outputs = 2;
      if (!categorical) config.atom_dims.clear();
      config.input_features = categorical ? 0 : 7;
      Initializer init(*device);
      EXPECT_EQ(count_parameters(config),
                static_cast<double>(GraphModel(init, config).parameter_count()));
    }
  }
}

TEST_P(EveryConv, PartsGiveTheGradientOfTheWholeBatch) {
  GraphModelConfig config = toy_config(GetParam(), NormKind::layer);
  config.dropout = 0.3;
  config.attention_dropout = 0.2;
  const auto [whole_loss, whole] = loss_and_gradient(config, 1, 1);
  const auto [parts_loss, parts] = loss_and_gradient(config, 1, 7);
  EXPECT_NEAR(whole_loss, parts_loss, 1e-5 * std::fabs(whole_loss));
  float largest = 0;
  for (const float g : whole) largest = std::max(largest, std::fabs(g));
  ASSERT_GT(largest, 0);
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(whole[i], parts[i], 1e-5 * largest);
}

TEST_P(EveryConv, LayersInOnePassGiveTheBitsOfSeparateOperations) {
  for (const NormKind norm : {NormKind::layer, NormKind::batch}) {
    GraphModelConfig config = toy_config(GetParam(), norm);
    const auto fused = loss_and_gradient(config, 1, 1);
    config.dropout = 1e-300;  // drops nothing, and stands between norm and residual
    EXPECT_EQ(loss_and_gradient(config, 1, 1), fused);
  }
}

TEST_P(EveryConv, ThreadsDoNotChangeABit) {
  for (const NormKind norm : {NormKind::none, NormKind::layer, NormKind::batch}) {
    const auto one = loss_and_gradient(toy_config(GetParam(), norm), 1, 7);
    const auto three = loss_and_gradient(toy_config(GetParam(), norm), 3, 7);
    EXPECT_EQ(one, three);
  }
}

TEST_P(EveryConv, PredictionsDoNotDependOnTheOtherMolecules) {
  const auto device = make_cpu_device(1);
  Initializer init(*device, 3);
  const GraphModel model(init, toy_config(GetParam(), NormKind::layer));
  const auto molecules = make_toy_molecules(20, 2);
  const auto together = predict(model, make_toy_batch(molecules, 0, 20, *device));
  for (std::size_t m = 0; m < 20; ++m) {
    const auto alone = predict(model, make_toy_batch(molecules, m, m + 1, *device));
    EXPECT_NEAR(alone[0], together[m], 1e-5);
  }
}

TEST_P(EveryConv, PredictionsDoNotDependOnTheOrderOfAtoms) {
  const auto device = make_cpu_device(1);
  Initializer init(*device, 3);
  const GraphModel model(init, toy_config(GetParam()));
  auto molecules = make_toy_molecules(10, 4);
  const auto before = predict(model, make_toy_batch(molecules, 0, 10, *device));
  for (auto& molecule : molecules) {  // numbers the atoms backwards
    const auto last = static_cast<std::int32_t>(molecule.atoms - 1);
    for (auto& [i, j] : molecule.bonds) {
      i = last - i;
      j = last - j;
    }
    std::vector<std::int32_t> x;
    for (std::int32_t a = last; a >= 0; --a) {
      x.insert(x.end(), {molecule.x[static_cast<std::size_t>(2 * a)],
                         molecule.x[static_cast<std::size_t>(2 * a + 1)]});
    }
    molecule.x = x;
  }
  const auto after = predict(model, make_toy_batch(molecules, 0, 10, *device));
  for (std::size_t m = 0; m < 10; ++m) EXPECT_NEAR(before[m], after[m], 1e-5);
}

TEST_P(EveryConv, GradientsOfTheWholeModelPassGradcheck) {
  const auto device = make_cpu_device(1);
  Initializer init(*device, 3, DType::f64);
  GraphModelConfig config = toy_config(GetParam(), NormKind::layer);
  config.hidden = 4;
  config.layers = 2;
  config.activation = Activation::silu;
  const GraphModel model(init, config);
  const auto molecules = make_toy_molecules(4, 4);
  const GraphBatch batch = make_toy_batch(molecules, 0, 4, *device);
  const Variables parameters = model.parameters();
  const auto f = [&](const Variables& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      Variable(parameters[i]).rebind(values[i].data());
    }
    ForwardContext context;
    return Variables{model.forward(batch, context)};
  };
  // Analytic gradients are taken with respect to the parameters, so differences are taken here.
  const Variable out = ops::sum(f(parameters)[0]);
  const Variables grads = autograd::grad({out}, parameters);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    auto values = parameters[i].data().to_vector<double>();
    const auto analytic = grads[i].data().to_vector<double>();
    for (std::size_t k = 0; k < values.size(); k += 7) {
      const auto shifted = [&](double by) {
        Variables moved = parameters;
        auto v = values;
        v[k] += by;
        moved[i] = Variable(Tensor::from(v, parameters[i].shape(), *device), true);
        const double sum = ops::sum(f(moved)[0]).item();
        Variable(parameters[i]).rebind(Tensor::from(values, parameters[i].shape(), *device));
        return sum;
      };
      const double numeric = (shifted(1e-6) - shifted(-1e-6)) / 2e-6;
      EXPECT_NEAR(analytic[k], numeric, 1e-6 * std::max(1.0, std::fabs(numeric)))
          << model.named_parameters()[i].name << " element " << k;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, EveryConv,
                         ::testing::Values(Layers{ConvKind::gcn}, Layers{ConvKind::gin},
                                           Layers{ConvKind::gine}, Layers{ConvKind::gcn, true},
                                           Layers{ConvKind::gin, true},
                                           Layers{ConvKind::gine, true}));

TEST(GcnConv, EqualsTheDenseFormula) {
  const auto device = make_cpu_device(1);
  Initializer init(*device, 9, DType::f64);
  const GcnConv conv(init, 3, 2);
  const auto molecules = make_toy_molecules(5, 8);
  const GraphBatch batch = make_toy_batch(molecules, 0, 5, *device);
  const auto n = static_cast<std::size_t>(batch.nodes());
  const Tensor x = init.normal({batch.nodes(), 3}, 1.0);
  const ops::GcnWeights weights = ops::gcn_weights(batch.adj, Variable(), DType::f64);
  ForwardContext context;
  const GraphInputs graph{batch, weights.edge, weights.self, {}};
  const auto got =
      conv.forward(Variable(x), graph, context, ops::Epilogue::none).data().to_vector<double>();

  std::vector<double> a(n * n, 0.0);
  const auto src = batch.adj.src.to_vector<std::int32_t>();
  const auto dst = batch.adj.dst.to_vector<std::int32_t>();
  for (std::size_t e = 0; e < src.size(); ++e) {
    a[static_cast<std::size_t>(dst[e]) * n + static_cast<std::size_t>(src[e])] = 1.0;
  }
  std::vector<double> degree(n, 1.0);
  for (std::size_t i = 0; i < n; ++i) {
    a[i * n + i] = 1.0;
    for (std::size_t j = 0; j < n; ++j) degree[i] += i == j ? 0.0 : a[i * n + j];
  }
  const auto values = x.to_vector<double>();
  const auto weight = conv.parameters()[0].data().to_vector<double>();  // [2, 3]
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t o = 0; o < 2; ++o) {
      double expected = 0;
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t c = 0; c < 3; ++c) {
          expected += a[i * n + j] / std::sqrt(degree[i] * degree[j]) * values[j * 3 + c] *
                      weight[o * 3 + c];
        }
      }
      EXPECT_NEAR(got[i * 2 + o], expected, 1e-12);
    }
  }
}

TEST(GraphModel, NamesItsParametersAndRefusesWhatCannotBeBuilt) {
  const auto device = make_cpu_device(1);
  Initializer init(*device);
  const GraphModel model(init, toy_config({ConvKind::gine}, NormKind::batch));
  EXPECT_EQ(model.named_parameters().front().name, "atoms.table");
  EXPECT_EQ(model.named_parameters().back().name, "head.linear.1.bias");
  EXPECT_FALSE(model.named_buffers().empty());
  GraphModelConfig config = toy_config({ConvKind::gine});
  config.bond_dims.clear();
  EXPECT_THROW(GraphModel(init, config), UserError);
  config = toy_config({ConvKind::gcn});
  config.hidden = 0;
  EXPECT_THROW(GraphModel(init, config), UserError);
  config = toy_config({ConvKind::gcn, true});
  config.heads = 3;  // does not divide the width
  EXPECT_THROW(GraphModel(init, config), UserError);
}

}  // namespace
}  // namespace moiety::nn
