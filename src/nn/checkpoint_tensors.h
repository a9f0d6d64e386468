// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "nn/checkpoint.h"
#include "nn/module.h"

namespace moiety::nn {

struct NamedTensor {
  std::string name;
  Tensor value;
};

/// Puts tensors into the checkpoint as prefix + name. They share their data until it is saved.
void save_tensors(Checkpoint& checkpoint, const std::string& prefix,
                  const std::vector<NamedTensor>& tensors);

/// Copies the checkpoint's tensors named prefix + name into those given. Throws IoError listing
/// every missing tensor, every one of the prefix that is not asked for, and every one of another
/// shape or dtype; nothing is written then.
void restore_tensors(const Checkpoint& checkpoint, const std::string& prefix,
                     const std::vector<NamedTensor>& tensors);

/// Parameters and buffers of a module as "model.conv.0.weight".
void save_module(Checkpoint& checkpoint, const Module& module,
                 const std::string& prefix = "model.");
void restore_module(const Checkpoint& checkpoint, const Module& module,
                    const std::string& prefix = "model.");

}  // namespace moiety::nn
