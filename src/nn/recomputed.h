// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "nn/forward_context.h"
#include "nn/module.h"

namespace moiety::nn {

using Block = std::function<Variable(const Variable& x, ForwardContext& context)>;

/// block(x, context) where `block` reads the parameters of these modules alone: as it is, or, where
/// the context says so, with x as the only activation that is kept for the backward pass, which
/// runs the block again with the same dropout keys. What the block captures must live as long as
/// the graph.
Variable recomputed(const std::vector<const Module*>& modules, const Variable& x,
                    ForwardContext& context, Block block);

}  // namespace moiety::nn
