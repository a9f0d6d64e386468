// SPDX-License-Identifier: Apache-2.0
#include "nn/checkpoint_tensors.h"

#include <gtest/gtest.h>

#include "nn/toy_module.h"
#include "support/error_text.h"
#include "support/temporary_folder.h"

namespace moiety::nn {
namespace {

using testing::error_text;
using testing::says;

TEST(CheckpointTensors, BringBackAModule) {
  const auto device = make_cpu_device(1);
  const testing::TemporaryFolder folder;
  const ToyModule module(*device);
  Checkpoint checkpoint;
  save_module(checkpoint, module);
  checkpoint.save(folder / "model");
  const ToyModule other(*device, DType::f32, /*stream=*/50);
  restore_module(Checkpoint::load(folder / "model", *device), other);
  for (std::size_t i = 0; i < module.named_parameters().size(); ++i) {
    EXPECT_EQ(other.named_parameters()[i].value.data().to_vector<float>(),
              module.named_parameters()[i].value.data().to_vector<float>());
  }
  EXPECT_EQ(other.named_buffers()[0].value.to_vector<float>(),
            module.named_buffers()[0].value.to_vector<float>());
}

TEST(CheckpointTensors, NameEveryOneThatDoesNotFitAndChangeNothing) {
  const auto device = make_cpu_device(1);
  const ToyModule module(*device);
  Checkpoint checkpoint;
  save_module(checkpoint, module);
  for (auto& [name, tensor] : checkpoint.tensors) tensor = tensor.clone();
  checkpoint.tensors.erase("model.table");
  checkpoint.tensors.erase("model.running_mean");
  checkpoint.tensors["model.weight"] = Tensor::zeros({5, 4}, DType::f32, *device);
  checkpoint.tensors["model.gate"] = Tensor::zeros({2, 2, 2}, DType::f64, *device);
  checkpoint.tensors["model.extra"] = Tensor::zeros({1}, DType::f32, *device);
  checkpoint.tensors["optimizer.extra"] = Tensor::zeros({1}, DType::f32, *device);
  checkpoint.tensors["model.bias"].fill_zero();
  const auto bias_before = module.named_parameters()[1].value.data().to_vector<float>();
  const std::string text = error_text<IoError>([&] { restore_module(checkpoint, module); });
  EXPECT_TRUE(says(text, {"checkpoint does not fit the model", "\"model.table\" is missing",
                          "\"model.running_mean\" is missing", "\"model.extra\" is unexpected",
                          "\"model.weight\" is f32 [5, 4] instead of f32 [5, 3]",
                          "\"model.gate\" is f64 [2, 2, 2] instead of f32 [2, 2, 2]"}));
  EXPECT_FALSE(says(text, {"model.bias"}));
  EXPECT_FALSE(says(text, {"optimizer.extra"}));
  EXPECT_EQ(module.named_parameters()[1].value.data().to_vector<float>(), bias_before);
}

TEST(CheckpointTensors, RefuseTwoOfOneName) {
  const auto device = make_cpu_device(1);
  const ToyModule module(*device);
  Checkpoint checkpoint;
  save_module(checkpoint, module);
  EXPECT_TRUE(says(error_text([&] { save_module(checkpoint, module); }),
                   {"two tensors named \"model.table\""}));
}

}  // namespace
}  // namespace moiety::nn
