// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "autograd/grad_mode.h"
#include "autograd/variable.h"

namespace moiety::autograd {

class Node;

/// By a leaf's id: where its gradient is added up.
using GradientSinks = std::unordered_map<const void*, Tensor>;

/// What a gradient rule sees: the saved inputs and outputs, and the gradients of the outputs.
class RuleContext {
 public:
  RuleContext(const std::shared_ptr<Node>& node, const Variables& grads, const GradientSinks& sinks)
      : node_(node), grads_(grads), sinks_(sinks) {}

  /// Input number i; throws Error when record() did not save it.
  const Variable& input(int i) const;
  int input_count() const;
  /// The shape of input i, saved or not.
  const Shape& input_shape(int i) const;
  /// Output number i, still connected to the graph so that rules can be differentiated.
  Variable output(int i = 0) const;
  /// Gradient of output i; zeros when nothing flowed into it.
  Variable grad(int i = 0) const;
  /// Whether anything flowed into output i.
  bool has_grad(int i) const { return grads_[static_cast<std::size_t>(i)].defined(); }
  /// Whether input i wants a gradient: skip the work when not.
  bool needs(int i) const;
  /// Where a rule may add the gradient of input i itself, which saves a pass over it; it then
  /// returns none. Contiguous, in the input's shape, in its dtype or that of what it was cast from;
  /// undefined: it must be returned.
  Tensor sink(int i) const;

 private:
  const std::shared_ptr<Node>& node_;
  const Variables& grads_;
  const GradientSinks& sinks_;
};

/// Maps the gradients of the outputs to one gradient per input (undefined = none), in terms of
/// ops:: so that it can be differentiated again. Captures sizes and index tensors, no Variables.
using Rule = std::function<Variables(const RuleContext&)>;

/// Bit i set: keep input (output) i for the rule. Everything else is freed after the forward pass.
struct Saved {
  std::uint32_t inputs = 0;
  std::uint32_t outputs = 0;
};
inline constexpr std::uint32_t kAll = ~std::uint32_t{0};

/// Where a gradient goes: an output of another node, a leaf, or nowhere (both empty).
struct Edge {
  std::shared_ptr<Node> node;
  std::uint32_t output = 0;
  Variable leaf;

  bool wanted() const { return node || leaf.defined(); }
};

/// One recorded operation.
class Node {
 public:
  struct Meta {
    Shape shape;
    DType dtype;
    Device* device;
  };

  Node(const char* name, std::vector<Variable> inputs, const std::vector<Tensor>& outputs,
       Saved saved, Rule rule);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const char* name() const { return name_; }
  std::size_t input_count() const { return edges_.size(); }
  std::size_t output_count() const { return outputs_.size(); }
  /// Where the gradient of input i goes.
  const Edge& edge(std::size_t i) const { return edges_[i]; }
  const Meta& output_meta(std::size_t i) const { return outputs_[i]; }

  /// Says that the operation is a cast, whose gradient is that of what it gave.
  void mark_cast() { is_cast_ = true; }
  bool is_cast() const { return is_cast_; }

  /// Gradients of the inputs from those of the outputs; checks their shapes.
  static Variables apply(const std::shared_ptr<Node>& self, const Variables& grads,
                         const GradientSinks& sinks);
  /// Frees what was saved; a second backward pass is then an error.
  void release();

 private:
  friend class RuleContext;

  const char* name_;
  std::vector<Edge> edges_;  // hold no data of intermediate results: only what is saved stays
  std::vector<Shape> input_shapes_;
  std::vector<Meta> outputs_;
  std::vector<Variable> saved_inputs_;  // undefined where not saved
  std::vector<Tensor> saved_outputs_;
  Rule rule_;
  bool is_cast_ = false;
  bool released_ = false;
};

bool any_requires_grad(std::span<const Variable> inputs);
Variable make_recorded(const char* name, std::vector<Variable> inputs, Tensor output, Saved saved,
                       Rule rule);
Variables make_recorded(const char* name, std::vector<Variable> inputs, std::vector<Tensor> outputs,
                        Saved saved, Rule rule);

/// Ends every operation: returns the output as a Variable, recorded with its rule when gradients
/// are enabled and an input requires them.
///   return record("exp", {x}, out, {.outputs = kAll},
///                 [](const RuleContext& c) -> Variables { return {mul(c.grad(), c.output())}; });
template <std::invocable<const RuleContext&> R>
Variable record(const char* name, std::span<const Variable> inputs, Tensor output, Saved saved,
                R&& rule) {
  if (!grad_enabled() || !any_requires_grad(inputs)) return Variable(std::move(output));
  return make_recorded(name, {inputs.begin(), inputs.end()}, std::move(output), saved,
                       Rule(std::forward<R>(rule)));
}
template <std::invocable<const RuleContext&> R>
Variable record(const char* name, std::initializer_list<Variable> inputs, Tensor output,
                Saved saved, R&& rule) {
  return record(name, std::span(inputs.begin(), inputs.size()), std::move(output), saved,
                std::forward<R>(rule));
}

/// The same for operations with several outputs.
template <std::invocable<const RuleContext&> R>
Variables record_many(const char* name, std::initializer_list<Variable> inputs,
                      std::vector<Tensor> outputs, Saved saved, R&& rule) {
  if (!grad_enabled() || !any_requires_grad({inputs.begin(), inputs.size()})) {
    Variables out;
    for (Tensor& t : outputs) out.emplace_back(std::move(t));
    return out;
  }
  return make_recorded(name, inputs, std::move(outputs), saved, Rule(std::forward<R>(rule)));
}

}  // namespace moiety::autograd
