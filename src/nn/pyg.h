// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nn/graph_model.h"
#include "nn/state_dict.h"

namespace moiety::nn {

/// Where the tensors of a graph model lie in the state dict of the module of PyTorch Geometric that
/// docs/pyg_model.py has. Throws UserError for a model whose atoms have no categorical features.
StateDictNames pyg_names(const GraphModel& model);

}  // namespace moiety::nn
