// SPDX-License-Identifier: Apache-2.0
// Times whole training steps (forward, backward, Adam) of a graph network on synthetic molecules
// and prints one JSON line: graph_step [gcn|gin|qm9] [HIDDEN] [BATCH] [THREADS] [SECONDS]
//
// gcn, gin: four layers 32 -> H -> H -> H -> H with ReLU, mean pooling, MLP H -> H -> 1, MSE. qm9:
// the model of recipes/qm9_gap.toml, five layers of GINE with batch norm and residuals.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "autograd/ops/elementwise.h"
#include "autograd/ops/loss.h"
#include "autograd/ops/message_passing.h"
#include "autograd/ops/segment.h"
#include "kernels/elementwise.h"
#include "nn/graph_model.h"
#include "nn/optimizer.h"
#include "nn/parallel_step.h"
#include "support/synthetic_molecules.h"

namespace moiety::bench {
namespace {

constexpr int kLayers = 4;
constexpr std::int64_t kNodesPerPart = 320;
constexpr std::int64_t kWhole = std::int64_t{1} << 40;

class Network : public nn::Module {
 public:
  Network(nn::Initializer& init, bool gcn, std::int64_t hidden) : gcn_(gcn) {
    for (int i = 0; i < kLayers; ++i) {
      const std::int64_t in = i == 0 ? kSyntheticFeatures : hidden;
      const std::string name = "conv." + std::to_string(i);
      if (gcn) {
        convs_.push_back(&add_module<nn::GcnConv>(name, init, in, hidden));
      } else {
        convs_.push_back(&add_module<nn::GinConv>(name, init, in, hidden, nn::Activation::relu,
                                                  nn::NormKind::none));
      }
    }
    head_ = &add_module<nn::Mlp>("head", init, std::vector<std::int64_t>{hidden, hidden, 1},
                                 nn::Activation::relu);
  }

  Variable forward(const GraphBatch& batch, nn::ForwardContext& context) const {
    nn::GraphInputs graph{batch, {}, {}, {}};
    if (gcn_) {
      const ops::GcnWeights weights = ops::gcn_weights(batch.adj, Variable(), DType::f32);
      graph.edge_weight = weights.edge;
      graph.self_weight = weights.self;
    } else {
      Tensor ones = Tensor::empty({batch.nodes()}, DType::f32, batch.x.device());
      kernels::fill(ones.device().stream(), ones, 1.0);
      graph.self_weight = Variable(ones);
    }
    Variable h(batch.x);
    for (const nn::GraphConv* conv : convs_) {
      h = conv->forward(h, graph, context, ops::Epilogue::relu);
    }
    return head_->forward(ops::segment_mean(h, batch.graph_ptr), context);
  }

 private:
  bool gcn_;
  std::vector<const nn::GraphConv*> convs_;
  const nn::Mlp* head_;
};

nn::GraphModelConfig qm9_config(std::int64_t hidden) {
  nn::GraphModelConfig config;
  config.conv = nn::ConvKind::gine;
  config.hidden = hidden;
  config.norm = nn::NormKind::batch;
  config.bond_dims = {kSyntheticBondKinds};
  config.input_features = kSyntheticFeatures;
  return config;
}

struct Options {
  std::string model = "gcn";
  std::int64_t hidden = 64;
  std::int64_t batch = 32;
  int threads = 2;
  double seconds = 2;
};

/// forward(batch, context) -> [M, 1].
template <class Forward>
void run(const Options& options, const nn::Module& network, bool couples_molecules, Device& device,
         const Forward& forward) {
  nn::FlatParameters parameters(network);
  const nn::FlatBuffer gradients = parameters.make_buffer();
  nn::Optimizer optimizer(parameters, {.kind = nn::OptimizerKind::adam});
  nn::ParallelStep parallel(parameters, !couples_molecules);
  const std::int64_t nodes_per_part = couples_molecules ? kWhole : kNodesPerPart;

  const auto molecules =
      make_synthetic_molecules(std::max<std::int64_t>(1024, 4 * options.batch), 1);
  const auto size = static_cast<std::size_t>(options.batch);
  std::vector<std::vector<GraphBatch>> batches;
  for (std::size_t b = 0; b < std::min<std::size_t>(8, molecules.size() / size); ++b) {
    batches.push_back(
        make_synthetic_parts(molecules, b * size, (b + 1) * size, nodes_per_part, device));
  }

  using Clock = std::chrono::steady_clock;
  std::vector<double> milliseconds;
  double first = 0;
  double last = 0;
  const auto start = Clock::now();
  for (std::size_t step = 0;; ++step) {
    const auto before = Clock::now();
    const auto& parts = batches[step % batches.size()];
    gradients.flat.fill_zero();
    last = parallel.run(
        static_cast<std::int64_t>(parts.size()),
        [&](std::int64_t i) {
          const GraphBatch& part = parts[static_cast<std::size_t>(i)];
          auto context = nn::ForwardContext::training(0, step);
          return ops::regression_loss(forward(part, context), part.y, ops::Loss::mse,
                                      1.0 / static_cast<double>(options.batch));
        },
        gradients);
    optimizer.step(gradients, 1e-3);
    if (step == 0) first = last;
    const auto now = Clock::now();
    milliseconds.push_back(std::chrono::duration<double, std::milli>(now - before).count());
    if (std::chrono::duration<double>(now - start).count() > options.seconds &&
        milliseconds.size() > 20) {
      break;
    }
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  const auto at = [&](double q) {
    return milliseconds[static_cast<std::size_t>(q * static_cast<double>(milliseconds.size() - 1))];
  };
  std::printf(
      "{\"model\": \"%s\", \"hidden\": %lld, \"batch\": %lld, \"threads\": %d, \"impl\": "
      "\"moiety\", \"p10_ms\": %.4f, \"median_ms\": %.4f, \"steps\": %zu, \"loss_first\": %.5f, "
      "\"loss_last\": %.5f}\n",
      options.model.c_str(), static_cast<long long>(options.hidden),
      static_cast<long long>(options.batch), options.threads, at(0.1), at(0.5), milliseconds.size(),
      first, last);
}

void run(const Options& options) {
  const auto device = make_cpu_device(options.threads);
  nn::Initializer init(*device, 0);
  if (options.model == "qm9") {
    const nn::GraphModel model(init, qm9_config(options.hidden));
    run(options, model, model.couples_molecules(), *device,
        [&](const GraphBatch& batch, auto& context) { return model.forward(batch, context); });
  } else {
    const Network network(init, options.model == "gcn", options.hidden);
    run(options, network, false, *device,
        [&](const GraphBatch& batch, auto& context) { return network.forward(batch, context); });
  }
}

}  // namespace
}  // namespace moiety::bench

int main(int argc, char** argv) try {
  moiety::bench::Options options;
  if (argc > 1) options.model = argv[1];
  if (argc > 2) options.hidden = std::atoll(argv[2]);
  if (argc > 3) options.batch = std::atoll(argv[3]);
  if (argc > 4) options.threads = std::atoi(argv[4]);
  if (argc > 5) options.seconds = std::atof(argv[5]);
  moiety::bench::run(options);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "graph_step: %s\n", error.what());
  return 1;
}
