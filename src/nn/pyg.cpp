// SPDX-License-Identifier: Apache-2.0
#include "nn/pyg.h"

namespace moiety::nn {
namespace {

class Names {
 public:
  explicit Names(Device& device) : device_(device) {}

  void add(const std::string& ours, const std::string& theirs) {
    out.places.push_back({ours, {theirs}});
  }
  void add_linear(const std::string& ours, const std::string& theirs) {
    add(ours + ".weight", theirs + ".weight");
    add(ours + ".bias", theirs + ".bias");
  }
  void add_norm(NormKind kind, const std::string& ours, const std::string& theirs) {
    if (kind == NormKind::none) return;
    const bool batch = kind == NormKind::batch;
    const std::string own = ours + (batch ? ".batch_norm" : ".layer_norm");
    add_linear(own, theirs);
    if (!batch) return;
    add(own + ".running_mean", theirs + ".running_mean");
    add(own + ".running_var", theirs + ".running_var");
    out.constants.push_back({theirs + ".num_batches_tracked",
                             Tensor::zeros({}, DType::i64, device_), /*others_fit=*/true});
  }
  /// A table of stacked features, of which each is a tensor there.
  void add_embeddings(const std::string& ours, const std::string& theirs,
                      const std::vector<std::int32_t>& classes) {
    StateDictPlace place{ours + ".table", {}};
    for (std::size_t f = 0; f < classes.size(); ++f) {
      place.theirs.push_back(theirs + ".embedding_list." + std::to_string(f) + ".weight");
      place.rows.push_back(classes[f]);
    }
    out.places.push_back(std::move(place));
  }
  void add_conv(const GraphModelConfig& config, const std::string& number) {
    const std::string ours = "conv." + number;
    const std::string theirs = "convs." + number;
    if (config.conv == ConvKind::gcn) {
      add(ours + ".linear.weight", theirs + ".lin.weight");
      return add(ours + ".linear.bias", theirs + ".bias");
    }
    if (config.conv == ConvKind::gine) {
      add_embeddings(ours + ".bonds", "bond_encoders." + number, config.bond_dims);
    }
    // Linear, norm, activation, Linear; and (1 + eps) times the atom itself, where eps is 0 here.
    add_linear(ours + ".mlp.linear.0", theirs + ".nn.0");
    add_norm(config.norm, ours + ".mlp.norm.0", theirs + ".nn.1");
    add_linear(ours + ".mlp.linear.1", theirs + ".nn.3");
    out.constants.push_back({theirs + ".eps", Tensor::zeros({1}, DType::f32, device_)});
  }

  StateDictNames out;

 private:
  Device& device_;
};

}  // namespace

StateDictNames pyg_names(const GraphModel& model) {
  const GraphModelConfig& config = model.config();
  check<UserError>(!config.atom_dims.empty(),
                   "only models of categorical atom features have a counterpart in docs/"
                   "pyg_model.py");
  check<UserError>(!config.attention,
                   "models with attention among atoms (model.attention) have no counterpart in "
                   "docs/pyg_model.py");
  Names names(model.parameters().front().device());
  names.add_embeddings("atoms", "atom_encoder", config.atom_dims);
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const std::string number = std::to_string(i);
    names.add_conv(config, number);
    names.add_norm(config.norm, "norm." + number, "norms." + number);
  }
  for (std::int64_t i = 0; i < config.head_layers; ++i) {
    names.add_linear("head.linear." + std::to_string(i), "head." + std::to_string(2 * i));
  }
  return std::move(names.out);
}

}  // namespace moiety::nn
