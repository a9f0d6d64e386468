// SPDX-License-Identifier: Apache-2.0
#include "apps/memory_use.h"

#include <gtest/gtest.h>

#include "apps/evaluation.h"
#include "apps/trainer.h"
#include "data/collate.h"
#include "support/error_text.h"
#include "support/toy_training.h"

#if defined(MOIETY_SIMT_EMULATED)
#include <simt/emulator.h>
#endif

namespace moiety::apps {
namespace {

using testing::error_text;
using testing::says;

TEST(MemoryUse, CountsTensorsAtTheirMost) {
  const auto device = make_cpu_device(1);
  { const Tensor large = Tensor::zeros({20 << 20}, DType::u8, *device); }
  const MemoryUse use = memory_use(*device);
  EXPECT_EQ(use.peak_bytes, 20 << 20);
  EXPECT_EQ(use.reserved_bytes, (20 + 32) << 20);
  EXPECT_GT(use.resident_bytes, 20 << 20);
  EXPECT_GT(use.device_bytes, use.resident_bytes);
  EXPECT_EQ(describe_memory(nlohmann::json::object()), "") << "of an older run";
}

TEST(MemoryAdvice, NamesTheKeysOfTheRecipe) {
  Recipe recipe;
  EXPECT_TRUE(says(memory_advice(recipe), {"data.batch_size (64)", "model.hidden (128)"}));
  recipe.data.node_budget = 1000;
  recipe.data.edge_budget = 3000;
  EXPECT_TRUE(says(memory_advice(recipe), {"data.node_budget (1000)", "data.edge_budget (3000)"}));
}

TEST(MemoryAdvice, StandsBehindTheError) {
  const auto fail = [] { throw MemoryError("no memory"); };
  EXPECT_EQ(error_text<MemoryError>([&] { with_advice([] { return "lower it"; }, fail); }),
            "no memory; lower it");
  EXPECT_THROW(with_advice([] { return ""; }, [] { throw IoError("file"); }), IoError);
}

#if defined(MOIETY_SIMT_EMULATED)
/// An emulated GPU with little memory while it lives.
class SmallGpu {
 public:
  explicit SmallGpu(std::size_t mib) { simt::settings().memory_bytes = mib << 20; }
  ~SmallGpu() { simt::settings().memory_bytes = before_; }

 private:
  std::size_t before_ = simt::settings().memory_bytes;
};

TEST(Prediction, GoesOnInSmallerPartsWhereMemoryIsShort) {
  const testing::TemporaryFolder folder;
  const data::Dataset dataset(testing::make_toy_dataset(folder));
  Recipe recipe = testing::toy_recipe(dataset.path());
  recipe.model.type = "gcn";
  recipe.model.hidden = 128;
  recipe.model.layers = 1;
  const ModelSpec spec = make_model_spec(recipe, dataset.info());
  std::vector<std::int64_t> rows;  // 20,000 atoms: 10 MiB for each number of a channel
  for (std::int64_t i = 0; i < 2400; ++i) rows.push_back(i % dataset.size());
  const auto predict = [&](std::int64_t& smallest) {
    const auto device = make_cuda_device(0, 1);
    nn::Initializer init(*device, 1);
    const nn::GraphModel model(init, spec.graph);
    return predict_in_parts<GraphBatch>(
        32768,
        [&](std::int64_t nodes) {
          smallest = nodes;
          return data::collate_parts(dataset, rows, nodes, device->host());
        },
        [&](const GraphBatch& part) {
          nn::ForwardContext context;
          const Variable output = model.forward(to_device(part, *device), context);
          return spec.scaler().restore(output.data());
        },
        *device);
  };
  std::int64_t whole = 0;
  std::int64_t cut = 0;
  const std::vector<double> expected = predict(whole);
  const SmallGpu small(80);
  const std::vector<double> found = predict(cut);
  EXPECT_EQ(whole, 32768);
  EXPECT_LT(cut, whole);
  ASSERT_EQ(found.size(), 2400u);
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-5) << i;
}

TEST(Prediction, EndsWhereNoPartFits) {
  const testing::TemporaryFolder folder;
  const data::Dataset dataset(testing::make_toy_dataset(folder));
  const ModelSpec spec = make_model_spec(testing::toy_recipe(dataset.path()), dataset.info());
  const SmallGpu small(40);  // the products' workspace takes 32
  const auto device = make_cuda_device(0, 1);
  const auto task = make_task(spec, *device);
  const std::vector<std::int64_t> rows = {0, 1, 2};
  const auto predict = [&] { task->predict(dataset, rows); };
  EXPECT_TRUE(says(error_text<MemoryError>(predict), {"out of memory on cuda:0", "of 40 MiB"}));
}
#endif

}  // namespace
}  // namespace moiety::apps
