// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tensor/tensor.h"

namespace moiety {

namespace autograd {
class Node;
}

/// A Tensor with its place in the graph of operations that made it. Copying shares both. Values
/// never change under a Variable: only optimizers write to the data of parameters.
class Variable {
 public:
  Variable() = default;
  /// A leaf: a constant, or a parameter when requires_grad.
  explicit Variable(Tensor data, bool requires_grad = false);
  /// Output number `output` of `node`; used by autograd::record and the engine.
  Variable(Tensor data, std::shared_ptr<autograd::Node> node, std::uint32_t output);

  bool defined() const { return impl_ != nullptr; }
  const Tensor& data() const;
  const Shape& shape() const { return data().shape(); }
  std::int64_t size(int dim) const { return data().size(dim); }
  int ndim() const { return data().ndim(); }
  std::int64_t numel() const { return data().numel(); }
  DType dtype() const { return data().dtype(); }
  Device& device() const { return data().device(); }
  /// The single element as double.
  double item() const { return data().item(); }

  /// Whether gradients flow to it: a parameter, or computed from one.
  bool requires_grad() const { return impl_ && (impl_->requires_grad || impl_->node); }
  bool is_leaf() const { return impl_ && !impl_->node; }
  /// The same data as a constant.
  Variable detach() const { return Variable(data()); }

  /// Identity of a leaf, for maps from parameters to what belongs to them.
  const void* id() const { return impl_.get(); }
  const std::shared_ptr<autograd::Node>& node() const { return impl_->node; }
  std::uint32_t output_number() const { return impl_->output; }

  /// Puts other storage of the same shape under a leaf, keeping its identity: parameters move into
  /// one flat buffer this way. Throws Error for a non-leaf.
  void rebind(Tensor data);

 private:
  struct Impl {
    Tensor data;
    std::shared_ptr<autograd::Node> node;
    std::uint32_t output = 0;
    bool requires_grad = false;
  };
  std::shared_ptr<Impl> impl_;
};

using Variables = std::vector<Variable>;

}  // namespace moiety
