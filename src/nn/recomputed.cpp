// SPDX-License-Identifier: Apache-2.0
#include "nn/recomputed.h"

#include <utility>

#include "autograd/grad_mode.h"
#include "autograd/ops/recompute.h"

namespace moiety::nn {

Variable recomputed(const std::vector<const Module*>& modules, const Variable& x,
                    ForwardContext& context, Block block) {
  if (!autograd::grad_enabled()) return block(x, context);
  Variables parameters;
  for (const Module* module : modules) {
    const Variables own = module->parameters();
    parameters.insert(parameters.end(), own.begin(), own.end());
  }
  ForwardContext again = context;
  again.mark_repeated();
  Tensor value;
  {
    const autograd::NoGrad no_grad;
    value = block(x.detach(), context).data();  // moves the context on, as it would without
  }
  const auto run = [again, block = std::move(block)](const Variable& input) {
    ForwardContext own = again;
    return block(input, own);
  };
  return ops::recompute(value, run, x, parameters);
}

}  // namespace moiety::nn
