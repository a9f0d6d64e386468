// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "nn/graph_model.h"
#include "nn/transformer_config.h"

namespace moiety::nn {

/// The names of choices as recipes and checkpoints spell them: "gcn", "mean", "batch", "relu".
std::string name_of(ConvKind kind);
std::string name_of(PoolKind kind);
std::string name_of(NormKind kind);
std::string name_of(Activation kind);
std::string name_of(RowNormKind kind);
std::string name_of(PositionKind kind);

/// The inverse. Each throws UserError listing the valid names.
ConvKind parse_conv(const std::string& name);
PoolKind parse_pool(const std::string& name);
NormKind parse_norm(const std::string& name);
Activation parse_activation(const std::string& name);
RowNormKind parse_row_norm(const std::string& name);
PositionKind parse_positions(const std::string& name);

}  // namespace moiety::nn
