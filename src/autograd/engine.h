// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "autograd/node.h"

namespace moiety::autograd {

struct GradOptions {
  bool create_graph = false;  ///< record the backward pass, so that gradients have gradients
  bool retain_graph = false;  ///< keep what was saved for another backward pass
  bool allow_unused = false;  ///< an input that the outputs do not depend on gives an undefined
                              ///< Variable; otherwise it is an Error
};

/// Gradients of sum(outputs . grad_outputs) with respect to the inputs, which may be parameters or
/// intermediate results. grad_outputs default to ones, which needs outputs of one element each.
/// Keeps no state in the graph: several threads may differentiate graphs that share parameters.
Variables grad(const Variables& outputs, const Variables& inputs,
               const Variables& grad_outputs = {}, GradOptions options = {});

/// grad() for a rule that differentiates what it computes again: other rules may add gradients of
/// leaves to these sinks. Inputs without a gradient, or whose gradient went there, give undefined.
Variables grad_with_sinks(const Variables& outputs, const Variables& inputs,
                          const Variables& grad_outputs, const GradientSinks& sinks);

/// Adds d loss / d parameters[i] into into[i] (contiguous, same shape), and frees the graph.
/// Parameters that the loss does not depend on are left alone. loss has one element; all is times
/// `scale`, a tensor of its shape and dtype, where one is given.
void backward(const Variable& loss, std::span<const Variable> parameters,
              std::span<const Tensor> into, const Tensor& scale = {});

}  // namespace moiety::autograd
