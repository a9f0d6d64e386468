// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nn/module.h"

namespace moiety::nn {

/// A flat buffer laid out like the parameters, with a view per parameter: gradients, moments,
/// averages.
struct FlatBuffer {
  Tensor flat;                ///< [P]
  std::vector<Tensor> views;  ///< one per parameter, its shape
};

/// Moves all parameters of a module into one contiguous buffer, of which each parameter becomes a
/// view: an optimizer step, a norm or an all-reduce is then one pass over one array.
class FlatParameters {
 public:
  struct Slot {
    std::string name;
    Shape shape;
    std::int64_t begin = 0;  ///< first element in the flat buffer
    std::int64_t end = 0;    ///< one past the last; slots are padded to 16 elements with zeros
  };

  /// All parameters must have one dtype. The module must outlive this and keep its parameters.
  explicit FlatParameters(const Module& module);

  const Tensor& values() const { return values_.flat; }  ///< [P], padding included
  const Variables& parameters() const { return parameters_; }
  const std::vector<Slot>& slots() const { return slots_; }
  std::int64_t size() const { return values_.flat.numel(); }
  Device& device() const { return values_.flat.device(); }
  DType dtype() const { return values_.flat.dtype(); }

  /// Another buffer of the same layout, zeroed.
  FlatBuffer make_buffer() const;

 private:
  FlatBuffer values_;
  Variables parameters_;
  std::vector<Slot> slots_;
};

}  // namespace moiety::nn
