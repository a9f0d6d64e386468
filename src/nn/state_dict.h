// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nn/checkpoint.h"
#include "nn/checkpoint_tensors.h"

// Weights under the names and in the layout of another library, both ways.
namespace moiety::nn {

/// Where one of our tensors lies in the other library's state dict.
struct StateDictPlace {
  std::string ours;
  std::vector<std::string> theirs;      ///< several: their rows are joined in ours
  bool transposed = false;              ///< [In, Out] there
  std::int64_t unused_rows = 0;         ///< theirs has so many more in front, which no token reads
  bool head = false;                    ///< behind the encoder or decoder
  std::vector<std::int64_t> rows = {};  ///< of each of theirs; empty: equal shares
};

/// A tensor there that is none of ours, as it is always the same.
struct StateDictConstant {
  std::string name;
  Tensor value;
  bool others_fit = false;  ///< whatever it is there does not matter here
};

/// The tensors of a model, and what a state dict may have besides.
struct StateDictNames {
  std::vector<StateDictPlace> places;
  std::string prefix;                ///< of what is not of the head: "roberta."
  std::vector<std::string> ignored;  ///< names, or beginnings of names that end in '.'
  std::vector<std::string> heads;    ///< likewise, of any head's tensors
  std::vector<StateDictConstant> constants;
};

enum class ImportedPart : std::uint8_t {
  all,
  body,  ///< the head stays as it is, and whatever head the state dict has is not read
};

/// Copies a state dict in f32, f64, bf16 or f16 into a model's parameters and buffers. Throws
/// IoError listing every tensor that is missing, unexpected or of another shape; nothing is written
/// then. Names without the prefix, as of a model that was saved without its head, are understood.
void import_state_dict(const Checkpoint& from, const StateDictNames& names, const Module& model,
                       ImportedPart part = ImportedPart::all);

/// The reverse: what tensors under our names are there.
Checkpoint export_state_dict(const std::vector<NamedTensor>& tensors, const StateDictNames& names);
/// That of a model's parameters and buffers. Saved as model.safetensors it is what the other
/// library reads.
Checkpoint export_state_dict(const Module& model, const StateDictNames& names);

}  // namespace moiety::nn
