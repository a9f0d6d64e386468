// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "autograd/variable.h"

namespace moiety::autograd {

using Function = std::function<Variables(const Variables&)>;

struct GradcheckOptions {
  double step = 1e-6;      ///< of the central difference
  double relative = 1e-5;  ///< allowed error, relative to the largest gradient of the input
  double absolute = 1e-8;
  std::uint64_t seed = 1;  ///< of the random directions that outputs are projected on
  /// Up to this many elements, of inputs and outputs together, every element is moved by itself.
  /// Beyond that the cost would be their square, and each input moves along one random direction.
  std::int64_t most_elements = 400;
};

/// Compares the gradient of f at f64 inputs (those that require gradients) with central
/// differences, for outputs projected on random directions. Returns "" when they agree, else which
/// input and element do not, with both numbers.
std::string gradcheck(const Function& f, const Variables& inputs, GradcheckOptions options = {});

/// The same for the gradient of f itself, as a function of inputs and output gradients.
std::string gradgradcheck(const Function& f, const Variables& inputs,
                          GradcheckOptions options = {});

}  // namespace moiety::autograd
