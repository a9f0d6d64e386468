// SPDX-License-Identifier: Apache-2.0
#include "nn/pyg.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "autograd/engine.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/reduce.h"
#include "nn/model_names.h"
#include "support/devices.h"
#include "support/error_text.h"

// tests/reference/make_pyg_golden.py made the file that is read here.
namespace moiety::nn {
namespace {

using testing::error_text;
using testing::says;

GraphModelConfig config_of(const std::string& conv) {
  GraphModelConfig out;
  out.conv = parse_conv(conv);
  out.hidden = 8;
  out.layers = 2;
  out.outputs = 2;
  out.atom_dims = {4, 3};
  out.bond_dims = {3, 2};
  out.norm = conv == "gcn" ? NormKind::none : conv == "gin" ? NormKind::batch : NormKind::layer;
  out.activation = conv == "gin" ? Activation::silu : Activation::relu;
  out.pool = conv == "gcn" ? PoolKind::mean : conv == "gin" ? PoolKind::sum : PoolKind::max;
  out.residual = conv != "gin";
  return out;
}

class Pyg : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  Pyg() : conv_(std::get<1>(GetParam())), model_(init_, config_of(conv_)) {}

  const Tensor& golden(const std::string& name) const { return golden_.tensors.at(name); }
  /// The golden tensors of this convolution whose names go on so, without that.
  Checkpoint part(const std::string& kind) const {
    Checkpoint out;
    const std::string prefix = conv_ + "/" + kind + "/";
    for (const auto& [name, tensor] : golden_.tensors) {
      if (name.starts_with(prefix)) out.tensors.emplace(name.substr(prefix.size()), tensor);
    }
    return out;
  }
  GraphBatch batch() const {
    GraphBatch out;
    std::vector<std::int32_t> ptr = {0};
    for (const std::int32_t n : golden("sizes").to_vector<std::int32_t>()) {
      ptr.push_back(ptr.back() + n);
    }
    out.x = golden("x");
    out.adj = make_adjacency(golden("src").to_vector<std::int32_t>(),
                             golden("dst").to_vector<std::int32_t>(), ptr.back(), *host_);
    out.edge_attr = golden("edge_attr");
    out.graph_ptr = Tensor::from(ptr, {std::ssize(ptr)}, *host_);
    return to_device(out, *device_);
  }
  static void expect_near(const Tensor& got, const Tensor& expected, double tolerance,
                          const std::string& name) {
    ASSERT_EQ(got.shape(), expected.shape()) << name;
    const auto a = got.to_vector<float>();
    const auto b = expected.to_vector<float>();
    float largest = 0;
    for (const float x : b) largest = std::max(largest, std::fabs(x));
    for (std::size_t i = 0; i < b.size(); ++i) {
      ASSERT_NEAR(a[i], b[i], tolerance * double{largest}) << name << ", element " << i;
    }
  }

  std::unique_ptr<Device> host_ = make_cpu_device(1);
  std::unique_ptr<Device> device_ = make_device(std::get<0>(GetParam()), 2);
  Checkpoint golden_ = Checkpoint::load(MOIETY_SOURCE_DIR "/tests/golden/pyg.safetensors", *host_,
                                        Checkpoint::Integrity::any);
  Initializer init_{*device_, 3};
  std::string conv_;
  GraphModel model_;
};

TEST_P(Pyg, OutputsAndGradientsAreTheSame) {
  StateDictNames names = pyg_names(model_);
  import_state_dict(part("state"), names, model_);
  ForwardContext context;
  const Variable out = model_.forward(batch(), context);
  expect_near(out.data(), golden(conv_ + "/out"), 1e-5, "out");
  const Variable loss = ops::sum(ops::mul(out, out));
  const auto named = model_.named_parameters();
  const Variables grads = autograd::grad({loss}, model_.parameters());
  std::vector<NamedTensor> ours;
  for (std::size_t i = 0; i < named.size(); ++i) ours.push_back({named[i].name, grads[i].data()});
  std::erase_if(names.places, [](const auto& p) { return p.ours.find("running") != p.ours.npos; });
  names.constants.clear();
  const Checkpoint exported = export_state_dict(ours, names);
  const Checkpoint expected = part("gradient");
  ASSERT_EQ(exported.tensors.size(), expected.tensors.size());
  for (const auto& [name, gradient] : expected.tensors) {
    expect_near(exported.tensors.at(name), gradient, 1e-4, name);
  }
}

TEST_P(Pyg, WhatIsReadIsExported) {
  const Checkpoint state = part("state");
  import_state_dict(state, pyg_names(model_), model_);
  const Checkpoint exported = export_state_dict(model_, pyg_names(model_));
  ASSERT_EQ(exported.tensors.size(), state.tensors.size());
  for (const auto& [name, value] : state.tensors) {
    const Tensor& got = exported.tensors.at(name);
    ASSERT_EQ(got.dtype(), value.dtype()) << name;
    if (value.dtype() != DType::f32) continue;
    EXPECT_EQ(got.to_vector<float>(), value.to_vector<float>()) << name;
  }
}

TEST_P(Pyg, WhatDoesNotFitIsNamed) {
  Checkpoint state = part("state");
  state.tensors["head.4.bias"] = golden("sizes");
  state.tensors.erase("atom_encoder.embedding_list.1.weight");
  std::string eps;
  if (conv_ != "gcn") {
    state.tensors["convs.1.eps"] = Tensor::from(std::vector<float>{0.5F}, {1}, *host_);
    eps = "\"convs.1.eps\" is 0.5, and only 0";
  }
  EXPECT_TRUE(
      says(error_text<IoError>([&] { import_state_dict(state, pyg_names(model_), model_); }),
           {"\"atom_encoder.embedding_list.1.weight\" is missing", "\"head.4.bias\" is unexpected",
            eps}));
}

std::vector<std::tuple<std::string, std::string>> cases() {
  std::vector<std::tuple<std::string, std::string>> out;
  for (const std::string& device : testing::devices()) {
    for (const char* conv : {"gcn", "gin", "gine"}) out.emplace_back(device, conv);
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, Pyg, ::testing::ValuesIn(cases()), [](const auto& name) {
  return std::get<0>(name.param) + "_" + std::get<1>(name.param);
});

}  // namespace
}  // namespace moiety::nn
