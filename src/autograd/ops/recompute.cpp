// SPDX-License-Identifier: Apache-2.0
#include "autograd/ops/recompute.h"

#include "autograd/engine.h"
#include "autograd/grad_mode.h"
#include "autograd/node.h"

namespace moiety::ops {
namespace {

using autograd::RuleContext;

/// Gradients of x and the parameters, undefined for those that want none.
Variables run_again(const std::function<Variable(const Variable&)>& f, const Variables& parameters,
                    const RuleContext& c) {
  check(!autograd::grad_enabled(),
        "what is computed again in the backward pass has no second derivative; keep the "
        "activations instead (train.recompute = false)");
  const Variable x(c.input(0).data(), c.needs(0));
  Variable value;
  {
    const autograd::GradModeGuard recording(true);
    value = f(x);
  }
  Variables wanted;
  if (c.needs(0)) wanted.push_back(x);
  autograd::GradientSinks sinks;
  int input = 1;
  for (const Variable& p : parameters) {
    const Tensor sink = c.sink(input++);
    if (p.requires_grad()) wanted.push_back(p);
    if (sink.defined()) sinks.emplace(p.id(), sink);
  }
  const Variables found = autograd::grad_with_sinks({value}, wanted, {c.grad()}, sinks);
  auto next = found.begin();
  Variables out;
  out.push_back(c.needs(0) ? *next++ : Variable());
  for (const Variable& p : parameters) out.push_back(p.requires_grad() ? *next++ : Variable());
  return out;
}

}  // namespace

Variable recompute(const Tensor& value, const std::function<Variable(const Variable&)>& f,
                   const Variable& x, const Variables& parameters) {
  Variables inputs = {x};
  inputs.insert(inputs.end(), parameters.begin(), parameters.end());
  return autograd::record(
      "recompute", inputs, value, {.inputs = 1},
      [f, parameters](const RuleContext& c) { return run_again(f, parameters, c); });
}

}  // namespace moiety::ops
