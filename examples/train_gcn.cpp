// SPDX-License-Identifier: Apache-2.0
// Trains a GCN on a prepared data set with the library alone: train_gcn DATA.h5 [EPOCHS]
#include <cmath>
#include <cstdio>
#include <cstdlib>

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

int main(int argc, char** argv) try {
  if (argc < 2) return std::fprintf(stderr, "usage: train_gcn DATA.h5 [EPOCHS]\n"), 2;
  const std::int64_t epochs = argc > 2 ? std::atoll(argv[2]) : 10;
  const data::Dataset dataset(argv[1]);
  const auto device = make_cpu_device();

  // The model: atoms embedded by their categories, four layers of 64 channels, one target.
  nn::Initializer init(*device, /*seed=*/1);
  const nn::GraphModel model(init, {.hidden = 64,
                                    .layers = 4,
                                    .atom_dims = dataset.info().features.atom_dims});
  nn::FlatParameters parameters(model);
  nn::FlatBuffer gradients = parameters.make_buffer();
  nn::Optimizer optimizer(parameters, {.kind = nn::OptimizerKind::adamw});
  nn::ParallelStep parallel(parameters, /*independent_parts=*/true);

  // Train on the first target, standardised; batches come from a reader thread.
  const nn::TargetScaler scaler({dataset.info().target_mean[0]}, {dataset.info().target_sd[0]});
  const std::vector<std::size_t> columns = {0};
  const data::Sampler sampler(dataset, dataset.split(data::Split::train),
                              {.batch_size = 64, .shuffle = true});
  data::Loader loader(dataset, sampler, *device, {.nodes_per_part = 320, .end_epoch = epochs});
  std::uint64_t step = 0;
  double loss = 0;
  while (const auto batch = loader.next()) {
    gradients.flat.fill_zero();
    loss += parallel.run(
        static_cast<std::int64_t>(batch->parts.size()),
        [&](std::int64_t i) {
          const GraphBatch& part = batch->parts[static_cast<std::size_t>(i)];
          auto context = nn::ForwardContext::training(/*seed=*/1, step);
          return ops::regression_loss(model.forward(part, context),
                                      scaler.standardize(part.y, columns), ops::Loss::mae,
                                      1.0 / static_cast<double>(batch->molecules));
        },
        gradients);
    optimizer.step(gradients, /*lr=*/1e-3);
    ++step;
    if (!batch->last_of_epoch) continue;
    std::printf("epoch %lld: training loss %.4f\n", static_cast<long long>(batch->cursor.epoch + 1),
                loss / static_cast<double>(sampler.steps(0)));
    loss = 0;
  }

  // The mean absolute error on the test split, in the target's own unit.
  const autograd::NoGrad no_grad;
  const auto test = dataset.split(data::Split::test);
  nn::ForwardContext inference;
  const auto predicted =
      scaler.restore(model.forward(data::collate(dataset, test, *device), inference).data());
  double error = 0;
  for (std::size_t m = 0; m < test.size(); ++m) {
    error += std::fabs(predicted[m] - dataset.targets(test[m])[0]);
  }
  std::printf("test MAE %.4f %s\n", error / static_cast<double>(test.size()),
              dataset.info().targets[0].unit.c_str());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "train_gcn: %s\n", error.what());
  return 1;
}
