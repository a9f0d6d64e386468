// SPDX-License-Identifier: Apache-2.0
#include "autograd/node.h"

#include <utility>

namespace moiety::autograd {

const Variable& RuleContext::input(int i) const {
  const Variable& saved = node_->saved_inputs_[static_cast<std::size_t>(i)];
  MOIETY_CHECK(saved.defined(), node_->name(), ": its rule reads input ", i,
               ", which record() did not save");
  return saved;
}

int RuleContext::input_count() const { return static_cast<int>(node_->input_count()); }

const Shape& RuleContext::input_shape(int i) const {
  return node_->input_shapes_[static_cast<std::size_t>(i)];
}

Variable RuleContext::output(int i) const {
  const Tensor& saved = node_->saved_outputs_[static_cast<std::size_t>(i)];
  MOIETY_CHECK(saved.defined(), node_->name(), ": its rule reads output ", i,
               ", which record() did not save");
  return Variable(saved, node_, static_cast<std::uint32_t>(i));
}

Variable RuleContext::grad(int i) const {
  const Variable& grad = grads_[static_cast<std::size_t>(i)];
  if (grad.defined()) return grad;
  const Node::Meta& meta = node_->output_meta(static_cast<std::size_t>(i));
  return Variable(Tensor::zeros(meta.shape, meta.dtype, *meta.device));
}

bool RuleContext::needs(int i) const { return node_->edge(static_cast<std::size_t>(i)).wanted(); }

Tensor RuleContext::sink(int i) const {
  const Edge* edge = &node_->edge(static_cast<std::size_t>(i));
  while (edge->node && edge->node->is_cast()) edge = &edge->node->edge(0);
  if (!edge->leaf.defined()) return {};
  const auto found = sinks_.find(edge->leaf.id());
  return found == sinks_.end() ? Tensor() : found->second;
}

Node::Node(const char* name, std::vector<Variable> inputs, const std::vector<Tensor>& outputs,
           Saved saved, Rule rule)
    : name_(name), rule_(std::move(rule)) {
  MOIETY_CHECK(inputs.size() <= 32 && outputs.size() <= 32, name, ": too many inputs or outputs");
  edges_.reserve(inputs.size());
  input_shapes_.reserve(inputs.size());
  saved_inputs_.resize(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Variable& input = inputs[i];
    Edge edge;
    if (input.requires_grad()) {
      if (input.is_leaf()) {
        edge.leaf = input;
      } else {
        edge.node = input.node();
        edge.output = input.output_number();
      }
    }
    edges_.push_back(std::move(edge));
    input_shapes_.push_back(input.defined() ? input.shape() : Shape());
    const bool named = i < 32 && (saved.inputs >> i & 1u) != 0;
    if (named || saved.inputs == kAll) saved_inputs_[i] = std::move(input);
  }
  saved_outputs_.resize(outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outputs_.push_back({outputs[i].shape(), outputs[i].dtype(), &outputs[i].device()});
    if (saved.outputs >> i & 1u) saved_outputs_[i] = outputs[i];
  }
}

Node::~Node() {
  // A long chain of operations would otherwise be destroyed recursively, one stack frame each.
  std::vector<std::shared_ptr<Node>> chain;
  const auto take_over = [&chain](Node& node) {
    for (Variable& saved : node.saved_inputs_) saved = Variable();
    for (Edge& edge : node.edges_) {
      if (edge.node && edge.node.use_count() == 1) chain.push_back(std::move(edge.node));
    }
  };
  take_over(*this);
  while (!chain.empty()) {
    const std::shared_ptr<Node> next = std::move(chain.back());
    chain.pop_back();
    take_over(*next);
  }
}

Variables Node::apply(const std::shared_ptr<Node>& self, const Variables& grads,
                      const GradientSinks& sinks) {
  check(!self->released_, self->name_,
        ": the graph was freed by an earlier backward pass; set GradOptions::retain_graph there");
  Variables out = self->rule_(RuleContext(self, grads, sinks));
  MOIETY_CHECK(out.size() == self->edges_.size(), self->name_, ": its rule gives ", out.size(),
               " gradients for ", self->edges_.size(), " inputs");
  for (std::size_t i = 0; i < out.size(); ++i) {
    MOIETY_CHECK(
        !out[i].defined() || !self->edges_[i].wanted() || out[i].shape() == self->input_shapes_[i],
        self->name_, ": gradient ", i, " has shape ", out[i].shape(), ", its input ",
        self->input_shapes_[i]);
  }
  return out;
}

void Node::release() {
  released_ = true;
  for (Variable& saved : saved_inputs_) saved = Variable();
  for (Tensor& saved : saved_outputs_) saved = Tensor();
  rule_ = nullptr;
}

bool any_requires_grad(std::span<const Variable> inputs) {
  for (const Variable& input : inputs) {
    if (input.requires_grad()) return true;
  }
  return false;
}

Variable make_recorded(const char* name, std::vector<Variable> inputs, Tensor output, Saved saved,
                       Rule rule) {
  auto node = std::make_shared<Node>(name, std::move(inputs), std::vector<Tensor>{output}, saved,
                                     std::move(rule));
  return Variable(std::move(output), std::move(node), 0);
}

Variables make_recorded(const char* name, std::vector<Variable> inputs, std::vector<Tensor> outputs,
                        Saved saved, Rule rule) {
  auto node = std::make_shared<Node>(name, std::move(inputs), outputs, saved, std::move(rule));
  Variables out;
  for (std::uint32_t i = 0; i < outputs.size(); ++i) {
    out.emplace_back(std::move(outputs[i]), node, i);
  }
  return out;
}

}  // namespace moiety::autograd
