// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "autograd/engine.h"
#include "nn/checkpoint_tensors.h"
#include "nn/init.h"
#include "nn/recorded_step.h"

// Models in training, their steps recorded or as they are.
namespace moiety::nn {

inline constexpr std::uint64_t kRecordedSeed = 5;

inline PackedBatch padded(const GraphBatch& batch, std::int64_t, Device& device) {
  return pack(batch, padded_size(batch), sizeof(StepNumbers), device);
}
inline PackedBatch padded(const TokenBatch& batch, std::int64_t max_length, Device& device) {
  return pack(batch, padded_size(batch, max_length), sizeof(StepNumbers), device);
}
inline std::int64_t count_of(const GraphBatch& batch) { return batch.graphs(); }
inline std::int64_t count_of(const TokenBatch& batch) { return batch.sequences(); }

/// A model of batches of graphs or of tokens, whose loss is divided by their number.
template <class Model, class Batch>
class RecordedTraining {
 public:
  using Loss = std::function<Variable(const Model&, const Batch&, ForwardContext&)>;
  static constexpr double kLr = 0.01;

  template <class... Config>
  RecordedTraining(Device& device, OptimizerKind kind, Loss loss, const Config&... config)
      : RecordedTraining(
            device,
            OptimizerConfig{.kind = kind, .weight_decay = 0.01, .clip_norm = 1, .max_skipped = 2},
            std::move(loss), config...) {}

  template <class... Config>
  RecordedTraining(Device& device, const OptimizerConfig& optimizer, Loss loss,
                   const Config&... config)
      : device_(device),
        init_(device, kRecordedSeed),
        loss_(std::move(loss)),
        model_(init_, config...),
        parameters_(model_),
        gradients_(parameters_.make_buffer()),
        optimizer_(parameters_, optimizer),
        ema_(parameters_, 0.9) {
    restart();
  }

  /// From here on nothing is recorded yet.
  void restart() {
    recorded_ = std::make_unique<RecordedStep>(parameters_, gradients_, optimizer_, &ema_,
                                               [this](const Batch& batch, ForwardContext& context) {
                                                 return loss_(model_, batch, context);
                                               });
  }

  /// Queues a step over batches on the host.
  void record(const std::vector<Batch>& batches) {
    std::int64_t count = 0;
    for (const Batch& batch : batches) count += count_of(batch);
    for (std::size_t i = 0; i < batches.size(); ++i) {
      recorded_->run({.batch = padded(batches[i], kMaxLength, device_.staging()),
                      .seed = kRecordedSeed,
                      .step = step_,
                      .number = static_cast<std::int64_t>(i),
                      .last = i + 1 == batches.size(),
                      .lr = kLr,
                      .scale = 1.0 / static_cast<double>(count)});
    }
    ++step_;
  }

  /// The same step as it is without any of that.
  StepResult plain(const Batch& batch) {
    auto context = ForwardContext::training(kRecordedSeed, step_++);
    const auto scale = static_cast<float>(1.0 / static_cast<double>(count_of(batch)));
    const Variable loss = loss_(model_, to_device(batch, device_), context);
    gradients_.flat.fill_zero();
    autograd::backward(loss, parameters_.parameters(), gradients_.views,
                       Tensor::from(std::vector<float>{scale}, {}, device_));
    const StepReport report = optimizer_.step(gradients_, kLr);
    ema_.update();
    return {loss.item() * double{scale}, report};
  }

  RecordedStep& recorded() { return *recorded_; }
  const Optimizer& optimizer() const { return optimizer_; }
  const Model& model() const { return model_; }

  void save(Checkpoint& checkpoint) const {
    save_module(checkpoint, model_);
    optimizer_.save(checkpoint);
    ema_.save(checkpoint);
  }
  /// Goes on from there as its step number `step`.
  void restore(const Checkpoint& checkpoint, std::uint64_t step) {
    restore_module(checkpoint, model_);
    optimizer_.restore(checkpoint);
    ema_.restore(checkpoint);
    step_ = step;
  }
  const FlatParameters& parameters() const { return parameters_; }
  std::vector<float> gradient() const { return gradients_.flat.template to_vector<float>(); }
  std::vector<float> weights() const { return parameters_.values().template to_vector<float>(); }
  std::vector<float> averages() const { return ema_.average().flat.template to_vector<float>(); }
  std::vector<float> statistics() const {
    std::vector<float> all;
    for (const auto& [name, buffer] : model_.named_buffers()) {
      const auto values = buffer.template to_vector<float>();
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }

 private:
  static constexpr std::int64_t kMaxLength = 16;  // of the models of tokens

  Device& device_;
  Initializer init_;
  Loss loss_;
  Model model_;
  FlatParameters parameters_;
  FlatBuffer gradients_;
  Optimizer optimizer_;
  Ema ema_;
  std::unique_ptr<RecordedStep> recorded_;
  std::uint64_t step_ = 0;
};

inline void expect_near(const std::vector<float>& a, const std::vector<float>& b,
                        double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance) << i;
}

}  // namespace moiety::nn
