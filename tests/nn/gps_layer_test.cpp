// SPDX-License-Identifier: Apache-2.0
#include "nn/gps_layer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autograd/engine.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/reduce.h"
#include "kernels/elementwise.h"
#include "nn/checkpoint.h"
#include "support/devices.h"

// tests/reference/make_gps_golden.py made the file that is read here.
namespace moiety::nn {
namespace {

/// Names of PyTorch Geometric's GPSConv.
const std::vector<std::pair<std::string, std::string>> kNames = {
    {"conv.mlp.linear.0", "conv.nn.0"},
    {"conv.mlp.norm.0.layer_norm", "conv.nn.1"},
    {"conv.mlp.linear.1", "conv.nn.3"},
    {"conv_norm.layer_norm", "norm1"},
    {"attention.qkv", "attn.in_proj"},
    {"attention.out", "attn.out_proj"},
    {"attention_norm.layer_norm", "norm2"},
    {"up", "mlp.0"},
    {"down", "mlp.3"},
    {"out_norm.layer_norm", "norm3"}};

std::string name_in_pyg(const std::string& ours) {
  for (const auto& [from, to] : kNames) {
    if (!ours.starts_with(from + ".")) continue;
    const bool joint = to.ends_with("in_proj");  // in_proj_weight
    return to + (joint ? "_" : ".") + ours.substr(from.size() + 1);
  }
  return "";
}

class GpsLayerOn : public ::testing::TestWithParam<std::string> {
 protected:
  void expect_near(const Tensor& got, const std::string& name, double relative) const {
    const Tensor& expected = golden_.tensors.at(name);
    ASSERT_EQ(got.shape(), expected.shape()) << name;
    const auto a = got.to_vector<float>();
    const auto b = expected.to_vector<float>();
    double largest = 0;
    for (const float v : b) largest = std::max(largest, std::fabs(double{v}));
    for (std::size_t i = 0; i < b.size(); ++i) {
      ASSERT_NEAR(a[i], b[i], relative * largest + 1e-6) << name << ", element " << i;
    }
  }

  std::unique_ptr<Device> host_ = make_cpu_device(1);
  std::unique_ptr<Device> device_ = make_device(GetParam(), 2);
  Checkpoint golden_ = Checkpoint::load(MOIETY_SOURCE_DIR "/tests/golden/gps.safetensors", *host_,
                                        Checkpoint::Integrity::any);
};

TEST_P(GpsLayerOn, AgreesWithPyTorchGeometric) {
  GraphModelConfig config;
  config.conv = ConvKind::gin;
  config.norm = NormKind::layer;
  config.attention = true;
  config.hidden = 12;
  config.heads = 3;
  Initializer init(*device_);
  const GpsLayer layer(init, config);
  const auto named = layer.named_parameters();
  for (const auto& [name, parameter] : named) {
    const Tensor& theirs = golden_.tensors.at("layer/" + name_in_pyg(name));
    ASSERT_EQ(parameter.shape(), theirs.shape()) << name;
    Variable(parameter).rebind(theirs.to(*device_));
  }

  std::vector<std::int32_t> ptr = {0};
  for (const std::int32_t n : golden_.tensors.at("sizes").to_vector<std::int32_t>()) {
    ptr.push_back(ptr.back() + n);
  }
  GraphBatch batch;
  batch.adj =
      make_adjacency(golden_.tensors.at("src").to_vector<std::int32_t>(),
                     golden_.tensors.at("dst").to_vector<std::int32_t>(), ptr.back(), *device_);
  batch.graph_ptr = Tensor::from(ptr, {std::ssize(ptr)}, *device_);
  const Tensor ones = Tensor::empty({batch.nodes()}, DType::f32, *device_);
  kernels::fill(device_->stream(), ones, 1.0);
  const GraphInputs graph{batch, {}, Variable(ones), {}};

  const Variable x(golden_.tensors.at("x").to(*device_), true);
  ForwardContext context;
  const Variable out = layer.forward(x, graph, context);
  expect_near(out.data(), "out", 1e-6);
  const Variable weight(golden_.tensors.at("weight").to(*device_));
  Variables inputs = layer.parameters();
  inputs.push_back(x);
  const Variables grads = autograd::grad({ops::sum(ops::mul(out, weight))}, inputs);
  for (std::size_t i = 0; i < named.size(); ++i) {
    expect_near(grads[i].data(), "gradient/" + name_in_pyg(named[i].name), 1e-5);
  }
  expect_near(grads.back().data(), "x.gradient", 1e-5);
}

INSTANTIATE_TEST_SUITE_P(All, GpsLayerOn, ::testing::ValuesIn(testing::devices()));

}  // namespace
}  // namespace moiety::nn
