// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "autograd/variable.h"

namespace moiety::nn {

struct NamedParameter {
  std::string name;  ///< "conv.0.weight"
  Variable value;
};

/// State that is saved with the parameters but not trained: running statistics.
struct NamedBuffer {
  std::string name;
  Tensor value;
};

/// A tree of named parameters and buffers. Subclasses register theirs in the constructor and add
/// forward functions of any signature.
class Module {
 public:
  Module() = default;
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// In order of registration, children after the module's own, names joined with dots.
  std::vector<NamedParameter> named_parameters() const;
  std::vector<NamedBuffer> named_buffers() const;
  Variables parameters() const;
  std::int64_t parameter_count() const;

 protected:
  Variable add_parameter(std::string name, Tensor initial);
  Tensor add_buffer(std::string name, Tensor initial);
  /// Constructs a child, owned by this module, and returns it.
  template <class M, class... Args>
  M& add_module(std::string name, Args&&... args) {
    return adopt_module(std::move(name), std::make_unique<M>(std::forward<Args>(args)...));
  }
  /// Owns a child whose class was chosen at run time.
  template <class M>
  M& adopt_module(std::string name, std::unique_ptr<M> child) {
    M& reference = *child;
    children_.emplace_back(std::move(name), std::move(child));
    return reference;
  }

 private:
  std::vector<NamedParameter> parameters_;
  std::vector<NamedBuffer> buffers_;
  std::vector<std::pair<std::string, std::unique_ptr<Module>>> children_;
};

}  // namespace moiety::nn
