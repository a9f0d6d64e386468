// SPDX-License-Identifier: Apache-2.0
// Trains a GCN on the first target of a prepared data set: train_gcn DATA.h5 [EPOCHS]
#include <cmath>
#include <cstdio>

#include "autograd/grad_mode.h"
#include "autograd/ops/loss.h"
#include "data/collate.h"
#include "data/loader.h"
#include "nn/flat_parameters.h"
#include "nn/graph_model.h"
#include "nn/optimizer.h"
#include "nn/parallel_step.h"
#include "nn/target_scaler.h"

using namespace moiety;

/// The molecules of a split whose first target is known; a missing value is NaN.
std::vector<std::int64_t> labelled(const data::Dataset& dataset, data::Split split) {
  std::vector<std::int64_t> rows;
  for (const auto row : dataset.split(split)) {
    if (!std::isnan(dataset.targets(row)[0])) rows.push_back(row);
  }
  check<UserError>(!rows.empty(), dataset.path(), " has no labels to ", name_of(split), " on");
  return rows;
}

int main(int argc, char** argv) try {
  check<UserError>(argc > 1, "usage: train_gcn DATA.h5 [EPOCHS]");
  const data::Dataset dataset(argv[1]);
  const data::DatasetInfo& info = dataset.info();
  check<UserError>(!info.targets.empty() && info.targets[0].task == "regression", argv[1],
                   " has no target for regression; see moiety prepare --target");
  const auto train = labelled(dataset, data::Split::train);
  const auto test = labelled(dataset, data::Split::test);
  const auto device = make_cpu_device();
  // The model: atoms embedded by their categories, four layers of 64 channels, one target.
  nn::Initializer init(*device, /*seed=*/1);
  const nn::GraphModel model(init,
                             {.hidden = 64, .layers = 4, .atom_dims = info.features.atom_dims});
  nn::FlatParameters parameters(model);
  nn::FlatBuffer gradients = parameters.make_buffer();
  nn::Optimizer optimizer(parameters, {.kind = nn::OptimizerKind::adamw});
  nn::ParallelStep parallel(parameters, /*independent_parts=*/true);
  // Training on the standardised target; batches come from a reader thread.
  const nn::TargetScaler scaler({info.target_mean[0]}, {info.target_sd[0]});
  const std::vector<std::size_t> columns = {0};
  const data::Sampler sampler(dataset, train, {.batch_size = 64, .shuffle = true});
  const std::int64_t epochs = argc > 2 ? std::stoll(argv[2]) : 10;
  data::Loader loader(dataset, sampler, *device, {.nodes_per_part = 320, .end_epoch = epochs});
  std::uint64_t step = 0;
  while (const auto batch = loader.next()) {
    gradients.flat.fill_zero();
    const auto part_loss = [&](std::int64_t i) {
      const GraphBatch& part = batch->parts[static_cast<std::size_t>(i)];
      auto context = nn::ForwardContext::training(/*seed=*/1, step);
      return ops::regression_loss(model.forward(part, context), scaler.standardize(part.y, columns),
                                  ops::Loss::mae, 1.0 / static_cast<double>(batch->molecules));
    };
    const double loss = parallel.run(std::ssize(batch->parts), part_loss, gradients);
    optimizer.step(gradients, /*lr=*/1e-3);
    if (step++ % 100 == 0) std::printf("step %llu: loss %.4f\n", 1ull * step, loss);
  }
  // The mean absolute error on the test split, in the target's own unit.
  const autograd::NoGrad no_grad;
  nn::ForwardContext inference;
  const GraphBatch batch = data::collate(dataset, test, *device);
  const auto predicted = scaler.restore(model.forward(batch, inference).data());
  double mae = 0;
  for (std::size_t m = 0; m < test.size(); ++m) {
    mae += std::fabs(predicted[m] - dataset.targets(test[m])[0]) / static_cast<double>(test.size());
  }
  std::printf("test MAE %.4f %s\n", mae, info.targets[0].unit.c_str());
} catch (const std::exception& error) {
  std::fprintf(stderr, "train_gcn: %s\n", error.what());
  return 1;
}
