// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "autograd/ops/loss.h"
#include "nn/graph_model.h"
#include "nn/recorded_step.h"
#include "nn/sequence_models.h"
#include "support/suite.h"
#include "support/synthetic_molecules.h"

// Whole training steps on a GPU, as train runs them: recorded once, replayed. On a CPU, where a
// step is one parallel region, graph_step times them.
namespace moiety::bench {
namespace {

constexpr std::int64_t kLayers = 4;
constexpr std::int64_t kTransformerLayers = 6;
constexpr std::int64_t kVocabulary = 600;

nn::GraphModelConfig config_of(std::int64_t hidden) {
  nn::GraphModelConfig config;
  config.conv = nn::ConvKind::gcn;
  config.hidden = hidden;
  config.layers = kLayers;
  config.input_features = kSyntheticFeatures;
  return config;
}

Variable loss_of(const nn::GraphModel& model, const GraphBatch& batch,
                 nn::ForwardContext& context) {
  return ops::regression_loss(model.forward(batch, context), batch.y, ops::Loss::mse);
}
Variable loss_of(const nn::MaskedLanguageModel& model, const TokenBatch& batch,
                 nn::ForwardContext& context) {
  return model.loss(batch, context);
}

/// A model in training, and the batch that it sees again and again.
template <class Model, class Batch>
class Training {
 public:
  /// `pack_into` makes the batch, on the staging device.
  template <class Config, class Pack>
  Training(Device& device, const Config& config, DType compute, const Pack& pack_into)
      : init_(device, 0),
        model_(init_, config),
        parameters_(model_),
        gradients_(parameters_.make_buffer()),
        optimizer_(parameters_, {.kind = nn::OptimizerKind::adamw}),
        recorded_(parameters_, gradients_, optimizer_, nullptr,
                  [this, compute](const Batch& batch, nn::ForwardContext& context) {
                    context.compute_in(compute);
                    return loss_of(model_, batch, context);
                  }),
        batch_(pack_into(device)) {
    step();  // as it is
    step();  // recorded
    recorded_.results(/*wait=*/true);
  }

  /// The batch's memory may be used again at once: whoever times steps waits for each.
  void step() {
    recorded_.run({.batch = batch_, .step = number_++, .lr = 1e-3, .scale = 1e-3});
    recorded_.results(/*wait=*/false);
  }

 private:
  nn::Initializer init_;
  Model model_;
  nn::FlatParameters parameters_;
  nn::FlatBuffer gradients_;
  nn::Optimizer optimizer_;
  nn::RecordedStep recorded_;
  PackedBatch batch_;
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
  const auto batch_on = [molecules](Device& device) {
    const auto drawn = make_synthetic_molecules(molecules, 1);
    const GraphBatch batch = make_synthetic_batch(drawn, 0, drawn.size(), device.host());
    return pack(batch, padded_size(batch), sizeof(nn::StepNumbers), device.staging());
  };
  suite.add("step/gcn/" + std::to_string(molecules) + "_molecules_x" + std::to_string(hidden),
            DType::f32, work_of(molecules, hidden), [=](Device& device) {
              const auto training = std::make_shared<Training<nn::GraphModel, GraphBatch>>(
                  device, config_of(hidden), DType::f32, batch_on);
              return [training] { training->step(); };
            });
}

/// Sequences of one length; every seventh token is scored.
TokenBatch make_token_batch(std::int64_t sequences, std::int64_t length, Device& host) {
  std::vector<std::int32_t> tokens;
  for (std::int64_t i = 0; i < length; ++i) {
    tokens.push_back(static_cast<std::int32_t>(1 + i * 31 % (kVocabulary - 1)));
  }
  TokenBatch batch = pack_tokens(
      std::vector<std::vector<std::int32_t>>(static_cast<std::size_t>(sequences), tokens), host);
  std::vector<std::int32_t> labels = batch.tokens.to_vector<std::int32_t>();
  for (std::size_t t = 0; t < labels.size(); ++t) {
    if (t % 7 != 0) labels[t] = -1;
  }
  score_labelled(batch, labels);
  return batch;
}

/// A masked language model of RoBERTa's shape: products of layers (of the last one but for keys and
/// values, those of scored tokens alone), attention and head, forward and twice backward (attention
/// makes its scores anew); in bytes, what the layers' products read and write, and AdamW's seven
/// arrays.
void add_language_step(Suite& suite, std::int64_t sequences, std::int64_t length, DType compute) {
  const std::int64_t width = suite.sized(384, 48);
  nn::TransformerConfig config;
  config.vocabulary = kVocabulary;
  config.max_length = length;
  config.hidden = width;
  config.layers = kTransformerLayers;
  config.heads = 12;
  const auto tokens = static_cast<double>(sequences * length);
  const auto scored = static_cast<double>((sequences * length + 6) / 7);
  const auto c = static_cast<double>(width);
  const double weights = 12 * kTransformerLayers * c * c;
  const double head = c * c + c * kVocabulary;
  const double products = 12 * (kTransformerLayers - 1) * tokens + 2 * tokens + 10 * scored;
  const double queries = (kTransformerLayers - 1) * tokens + scored;
  // Of the 48 arrays of a layer the last has 8 of all tokens: its input, keys and values.
  const double arrays = 48 * (kTransformerLayers - 1) * tokens + 8 * tokens + 40 * scored;
  const Work work{
      .bytes = bytes_of(compute) * arrays * c +
               28 * (weights + head + c * static_cast<double>(length)),
      .flops = 6 * (products * c * c + scored * head) +
               14 * queries * static_cast<double>(length) * c,
      .arithmetic = compute == DType::bf16 ? Arithmetic::bf16 : Arithmetic::f32};
  suite.add("step/masked_lm/" + std::to_string(sequences) + "x" + std::to_string(length) + "x" +
                std::to_string(width),
            compute, work, [=](Device& device) {
              const auto batch_on = [=](Device& gpu) {
                const TokenBatch batch = make_token_batch(sequences, length, gpu.host());
                return pack(batch, padded_size(batch, length), sizeof(nn::StepNumbers),
                            gpu.staging());
              };
              const auto training = std::make_shared<Training<nn::MaskedLanguageModel, TokenBatch>>(
                  device, config, compute, batch_on);
              return [training] { training->step(); };
            });
}

}  // namespace

void add_steps(Suite& suite) {
  if (!suite.on_gpu()) return;
  for (const auto& [molecules, hidden] : {std::pair{32, 64}, std::pair{512, 128}}) {
    add_step(suite, suite.sized(molecules, 4), hidden);
  }
  for (const DType compute : suite.dtypes()) {
    add_language_step(suite, suite.sized(8, 2), suite.sized(128, 9), compute);
  }
}

}  // namespace moiety::bench
