// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "autograd/ops/loss.h"
#include "nn/graph_model.h"
#include "nn/recorded_step.h"
#include "support/suite.h"
#include "support/synthetic_molecules.h"

// Whole training steps on a GPU, as train runs them: recorded once, replayed. On a CPU, where a
// step is one parallel region, graph_step times them.
namespace moiety::bench {
namespace {

constexpr std::int64_t kLayers = 4;

nn::GraphModelConfig config_of(std::int64_t hidden) {
  nn::GraphModelConfig config;
  config.conv = nn::ConvKind::gcn;
  config.hidden = hidden;
  config.layers = kLayers;
  config.input_features = kSyntheticFeatures;
  return config;
}

/// A GCN in training, and the batch that it sees again and again.
class Training {
 public:
  Training(Device& device, std::int64_t molecules, std::int64_t hidden)
      : init_(device, 0),
        model_(init_, config_of(hidden)),
        parameters_(model_),
        gradients_(parameters_.make_buffer()),
        optimizer_(parameters_, {.kind = nn::OptimizerKind::adamw}),
        recorded_(parameters_, gradients_, optimizer_, nullptr,
                  [this](const GraphBatch& batch, nn::ForwardContext& context) {
                    return ops::regression_loss(model_.forward(batch, context), batch.y,
                                                ops::Loss::mse);
                  }) {
    const auto drawn = make_synthetic_molecules(molecules, 1);
    const GraphBatch batch = make_synthetic_batch(drawn, 0, drawn.size(), device.host());
    batch_ = pack(batch, padded_size(batch), sizeof(nn::StepNumbers), device.staging());
    scale_ = 1.0 / static_cast<double>(molecules);
    step();  // as it is
    step();  // recorded
    recorded_.results(/*wait=*/true);
  }

  /// The batch's memory may be used again at once: whoever times steps waits for each.
  void step() {
    recorded_.run({.batch = batch_, .step = number_++, .lr = 1e-3, .scale = scale_});
    recorded_.results(/*wait=*/false);
  }

 private:
  nn::Initializer init_;
  nn::GraphModel model_;
  nn::FlatParameters parameters_;
  nn::FlatBuffer gradients_;
  nn::Optimizer optimizer_;
  nn::RecordedStep recorded_;
  PackedBatch batch_;
  double scale_ = 1;
  std::uint64_t number_ = 0;
};

/// The products of the layers, forward and twice backward; in bytes, the arrays of the layers that
/// these products read and write, and AdamW's seven arrays of parameters.
Work work_of(std::int64_t molecules, std::int64_t hidden) {
  const auto drawn = make_synthetic_molecules(molecules, 1);
  double nodes = 0;
  for (const SyntheticMolecule& molecule : drawn) nodes += static_cast<double>(molecule.atoms);
  const auto width = static_cast<double>(hidden);
  const double weights = kSyntheticFeatures * width + kLayers * width * width;
  const double parameters = nn::count_parameters(config_of(hidden));
  return {.bytes = sizeof(float) *
                   (nodes * kSyntheticFeatures + 6 * kLayers * nodes * width + 7 * parameters),
          .flops = 6 * nodes * weights};
}

void add_step(Suite& suite, std::int64_t molecules, std::int64_t hidden) {
  suite.add("step/gcn/" + std::to_string(molecules) + "_molecules_x" + std::to_string(hidden),
            DType::f32, work_of(molecules, hidden), [=](Device& device) {
              const auto training = std::make_shared<Training>(device, molecules, hidden);
              return [training] { training->step(); };
            });
}

}  // namespace

void add_steps(Suite& suite) {
  if (!suite.on_gpu()) return;
  for (const auto& [molecules, hidden] : {std::pair{32, 64}, std::pair{512, 128}}) {
    add_step(suite, suite.sized(molecules, 4), hidden);
  }
}

}  // namespace moiety::bench
