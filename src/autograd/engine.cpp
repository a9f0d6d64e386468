// SPDX-License-Identifier: Apache-2.0
#include "autograd/engine.h"

#include <unordered_map>

#include "autograd/grad_mode.h"
#include "autograd/node.h"
#include "autograd/ops/contiguous.h"
#include "autograd/ops/elementwise.h"
#include "kernels/elementwise.h"

namespace moiety::autograd {
namespace {

using NodePtr = std::shared_ptr<Node>;

/// A place that a gradient is asked for: a leaf (number 0) or an output of a node.
struct Target {
  const void* of;
  std::uint32_t output;
  bool operator==(const Target&) const = default;
};

struct TargetHash {
  std::size_t operator()(const Target& t) const {
    return std::hash<const void*>()(t.of) * 31 + t.output;
  }
};

Target target_of(const Variable& v) {
  return v.is_leaf() ? Target{v.id(), 0} : Target{v.node().get(), v.output_number()};
}

Target target_of(const Edge& edge) {
  return edge.node ? Target{edge.node.get(), edge.output} : Target{edge.leaf.id(), 0};
}

using TargetSlots = std::unordered_map<Target, std::size_t, TargetHash>;

/// One backward pass. All state is here and none in the graph.
class BackwardPass {
 public:
  BackwardPass(const Variables& inputs, GradOptions options, const GradientSinks& sinks)
      : options_(options), sinks_(sinks) {
    results_.resize(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      check(inputs[i].requires_grad(), "grad: input ", i, " does not require gradients");
      slots_.emplace(target_of(inputs[i]), i);
    }
  }

  void seed(const Variable& output, const Variable& grad_output) {
    accumulate_target(target_of(output), grad_output);
    if (!output.is_leaf()) {
      visit(output.node());
      add_to_node(*output.node(), output.output_number(), grad_output);
    }
  }

  void run() {
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      State& state = states_.at(it->get());
      if (!state.needed || state.grads.empty()) continue;
      const Variables grads = Node::apply(*it, state.grads, sinks_);
      state.grads.clear();
      for (std::size_t i = 0; i < grads.size(); ++i) {
        const Edge& edge = (*it)->edge(i);
        if (!grads[i].defined() || !edge.wanted()) continue;
        accumulate_target(target_of(edge), grads[i]);
        if (edge.node) add_to_node(*edge.node, edge.output, grads[i]);
      }
      if (!options_.retain_graph && !options_.create_graph) (*it)->release();
    }
  }

  Variables results(const Variables& inputs) {
    Variables out;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      out.push_back(results_[slots_.at(target_of(inputs[i]))]);
      check(options_.allow_unused || out.back().defined(),
            "grad: the outputs do not depend on input ", i,
            "; set GradOptions::allow_unused if that is intended");
    }
    return out;
  }

 private:
  struct State {
    Variables grads;  // empty until something arrives
    bool needed = false;
  };

  /// Depth-first from a node: appends to order_ every node after all nodes that it depends on, and
  /// marks those that lead to an input.
  void visit(const NodePtr& root) {
    struct Frame {
      const NodePtr* node;
      std::size_t next_edge;
    };
    if (!states_.try_emplace(root.get()).second) return;
    std::vector<Frame> stack{{&root, 0}};
    while (!stack.empty()) {
      auto& [node, next_edge] = stack.back();
      if (next_edge < (*node)->input_count()) {
        const Edge& edge = (*node)->edge(next_edge++);
        if (edge.node && states_.try_emplace(edge.node.get()).second) {
          stack.push_back({&edge.node, 0});
        }
        continue;
      }
      bool needed = false;
      for (std::size_t i = 0; i < (*node)->input_count(); ++i) {
        const Edge& edge = (*node)->edge(i);
        if (!edge.wanted()) continue;
        needed = needed || slots_.contains(target_of(edge)) ||
                 (edge.node && states_.at(edge.node.get()).needed);
      }
      states_.at(node->get()).needed = needed;
      order_.push_back(*node);
      stack.pop_back();
    }
  }

  void add_to_node(Node& node, std::uint32_t output, const Variable& grad) {
    State& state = states_.at(&node);
    if (!state.needed) return;
    if (state.grads.empty()) state.grads.resize(node.output_count());
    add(state.grads[output], grad);
  }

  void accumulate_target(const Target& target, const Variable& grad) {
    if (const auto slot = slots_.find(target); slot != slots_.end()) {
      add(results_[slot->second], grad);
    }
  }

  static void add(Variable& sum, const Variable& grad) {
    sum = sum.defined() ? ops::add(sum, grad) : grad;
  }

  GradOptions options_;
  const GradientSinks& sinks_;
  TargetSlots slots_;
  Variables results_;
  std::unordered_map<const Node*, State> states_;
  std::vector<NodePtr> order_;
};

Variable ones_like_scalar(const Variable& output) {
  check<ShapeError>(output.numel() == 1, "grad: an output of shape ", output.shape(),
                    " needs a grad_output; only outputs of one element default to 1");
  Tensor one = Tensor::empty(output.shape(), output.dtype(), output.device());
  kernels::fill(output.device().stream(), one, 1.0);
  return Variable(one);
}

/// grad(), where rules may add gradients of leaves to their sinks instead of handing them over.
Variables differentiate(const Variables& outputs, const Variables& inputs,
                        const Variables& grad_outputs, GradOptions options,
                        const GradientSinks& sinks) {
  check(grad_outputs.empty() || grad_outputs.size() == outputs.size(), "grad: ", outputs.size(),
        " outputs but ", grad_outputs.size(), " grad_outputs");
  const GradModeGuard mode(options.create_graph);
  BackwardPass pass(inputs, options, sinks);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Variable seed = grad_outputs.empty() ? ones_like_scalar(outputs[i]) : grad_outputs[i];
    check<ShapeError>(seed.shape() == outputs[i].shape(), "grad: output ", i, " has shape ",
                      outputs[i].shape(), ", its grad_output ", seed.shape());
    if (outputs[i].requires_grad()) pass.seed(outputs[i], seed);
  }
  pass.run();
  return pass.results(inputs);
}

}  // namespace

Variables grad(const Variables& outputs, const Variables& inputs, const Variables& grad_outputs,
               GradOptions options) {
  return differentiate(outputs, inputs, grad_outputs, options, {});
}

Variables grad_with_sinks(const Variables& outputs, const Variables& inputs,
                          const Variables& grad_outputs, const GradientSinks& sinks) {
  return differentiate(outputs, inputs, grad_outputs, {.allow_unused = true}, sinks);
}

void backward(const Variable& loss, std::span<const Variable> parameters,
              std::span<const Tensor> into, const Tensor& scale) {
  check(parameters.size() == into.size(), "backward: ", parameters.size(), " parameters but ",
        into.size(), " gradient tensors");
  const Variables seed = scale.defined() ? Variables{Variable(scale)} : Variables{};
  GradientSinks sinks;
  for (std::size_t i = 0; i < into.size(); ++i) {
    const bool fits = into[i].contiguous() && into[i].shape() == parameters[i].shape() &&
                      into[i].dtype() == parameters[i].dtype();
    if (!fits || !parameters[i].is_leaf()) continue;
    const auto [sink, is_new] = sinks.emplace(parameters[i].id(), into[i]);
    if (!is_new) sink->second = Tensor();  // given twice: both get the gradient that is returned
  }
  const Variables grads = differentiate({loss}, Variables(parameters.begin(), parameters.end()),
                                        seed, {.allow_unused = true}, sinks);
  std::vector<Tensor> dense;  // held until they are added
  std::vector<TensorView> from;
  std::vector<TensorView> to;
  for (std::size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].defined()) continue;
    check<ShapeError>(into[i].shape() == grads[i].shape(), "backward: gradient of shape ",
                      grads[i].shape(), " into a tensor of shape ", into[i].shape());
    dense.push_back(ops::contiguous(grads[i].data()));
    from.push_back(dense.back());
    to.push_back(into[i]);
  }
  kernels::accumulate_all(loss.device().stream(), from, to);
}

}  // namespace moiety::autograd
