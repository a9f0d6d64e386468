// SPDX-License-Identifier: Apache-2.0
#include "nn/checkpoint_tensors.h"

#include <set>

namespace moiety::nn {
namespace {

std::vector<NamedTensor> tensors_of(const Module& module) {
  std::vector<NamedTensor> out;
  for (const NamedParameter& p : module.named_parameters()) {
    out.push_back({p.name, p.value.data()});
  }
  for (const NamedBuffer& b : module.named_buffers()) out.push_back({b.name, b.value});
  return out;
}

/// A clause for each tensor that does not fit.
std::vector<std::string> misfits(const Checkpoint& checkpoint, const std::string& prefix,
                                 const std::vector<NamedTensor>& tensors) {
  std::vector<std::string> out;
  std::set<std::string> asked;
  for (const auto& [name, value] : tensors) {
    const std::string full = prefix + name;
    asked.insert(full);
    const auto found = checkpoint.tensors.find(full);
    if (found == checkpoint.tensors.end()) {
      out.push_back(concat("\"", full, "\" is missing"));
      continue;
    }
    const Tensor& stored = found->second;
    if (stored.shape() != value.shape() || stored.dtype() != value.dtype()) {
      out.push_back(concat("\"", full, "\" is ", stored.dtype(), " ", stored.shape(),
                           " instead of ", value.dtype(), " ", value.shape()));
    }
  }
  for (auto it = checkpoint.tensors.lower_bound(prefix);
       it != checkpoint.tensors.end() && it->first.starts_with(prefix); ++it) {
    if (!asked.contains(it->first)) {
      out.push_back(concat("\"", it->first, "\" is unexpected"));
    }
  }
  return out;
}

}  // namespace

void save_tensors(Checkpoint& checkpoint, const std::string& prefix,
                  const std::vector<NamedTensor>& tensors) {
  for (const auto& [name, value] : tensors) {
    const bool added = checkpoint.tensors.emplace(prefix + name, value).second;
    check(added, "checkpoint: there are two tensors named \"", prefix, name, "\"");
  }
}

void restore_tensors(const Checkpoint& checkpoint, const std::string& prefix,
                     const std::vector<NamedTensor>& tensors) {
  std::string problems;
  for (const std::string& problem : misfits(checkpoint, prefix, tensors)) {
    problems += (problems.empty() ? ": " : "; ") + problem;
  }
  check<IoError>(problems.empty(), checkpoint.source(), " does not fit the model", problems);
  for (const auto& [name, value] : tensors) {
    value.copy_from(checkpoint.tensors.at(prefix + name).to(value.device()));
  }
}

void save_module(Checkpoint& checkpoint, const Module& module, const std::string& prefix) {
  save_tensors(checkpoint, prefix, tensors_of(module));
}

void restore_module(const Checkpoint& checkpoint, const Module& module, const std::string& prefix) {
  restore_tensors(checkpoint, prefix, tensors_of(module));
}

}  // namespace moiety::nn
