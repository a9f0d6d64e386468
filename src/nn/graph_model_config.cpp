// SPDX-License-Identifier: Apache-2.0
#include "nn/graph_model_config.h"

#include <numeric>

namespace moiety::nn {
namespace {

double sum_of(const std::vector<std::int32_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), 0.0);
}

}  // namespace

double count_parameters(const GraphModelConfig& config) {
  const auto width = static_cast<double>(config.hidden);
  const double linear = width * width + width;
  const double norm = config.norm == NormKind::none ? 0 : 2 * width;
  const double encoder = config.atom_dims.empty()
                             ? (static_cast<double>(config.input_features) + 1) * width
                             : sum_of(config.atom_dims) * width;
  double layer = linear + norm;
  if (config.conv != ConvKind::gcn) layer += linear + norm;
  if (config.conv == ConvKind::gine) layer += sum_of(config.bond_dims) * width;
  if (config.attention) layer += 4 * linear + 4 * width * width + 3 * width + 2 * norm;
  const double outputs = static_cast<double>(config.outputs) * (width + 1);
  return encoder + static_cast<double>(config.layers) * layer +
         (static_cast<double>(config.head_layers) - 1) * linear + outputs;
}

void check_config(const GraphModelConfig& c) {
  check<UserError>(c.hidden > 0, "model.hidden must be positive, not ", c.hidden);
  check<UserError>(c.layers > 0, "model.layers must be positive, not ", c.layers);
  check<UserError>(c.head_layers > 0, "model.head_layers must be positive, not ", c.head_layers);
  check<UserError>(c.dropout >= 0 && c.dropout < 1, "model.dropout must be in [0, 1), not ",
                   c.dropout);
  check<UserError>(c.outputs > 0, "the model needs at least one target");
  check<UserError>(!c.atom_dims.empty() || c.input_features > 0,
                   "the data set has no atom features");
  check<UserError>(c.conv != ConvKind::gine || !c.bond_dims.empty(),
                   "\"gine\" reads bond features and the data set has none: use gcn "
                   "or gin");
  if (!c.attention) return;
  check<UserError>(c.heads > 0 && c.hidden % c.heads == 0, "model.heads = ", c.heads,
                   " does not divide model.hidden = ", c.hidden);
  check<UserError>(c.attention_dropout >= 0 && c.attention_dropout < 1,
                   "model.attention_dropout must be in [0, 1), not ", c.attention_dropout);
}

}  // namespace moiety::nn
