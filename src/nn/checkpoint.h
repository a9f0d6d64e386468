// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "tensor/tensor.h"

namespace moiety::nn {

/// Named tensors and named scalars or strings, kept in one safetensors file that other programs
/// open too: state goes into its string metadata. The header and each tensor carry a checksum.
class Checkpoint {
 public:
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> state;  ///< UTF-8; names beginning with "moiety." are ours

  enum class Integrity : std::uint8_t {
    checked,  ///< only files with our checksums
    any,      ///< plain safetensors files of other programs as well
  };

  /// Writes beside `path`, flushes and renames: whatever happens, `path` is the old file or the new
  /// one. What an interrupted save left beside it is overwritten. One writer at a time. Throws
  /// IoError.
  void save(const std::filesystem::path& path) const;

  /// Throws IoError, naming the file and the tensor, when anything is missing, damaged or not as it
  /// was written. Allocates no more than the size of the file.
  static Checkpoint load(const std::filesystem::path& path, Device& device,
                         Integrity integrity = Integrity::checked);

  /// The file that it was loaded from, for messages; "checkpoint" for one made in memory.
  const std::string& source() const { return source_; }

  void set_i64(const std::string& name, std::int64_t value);
  void set_u64(const std::string& name, std::uint64_t value);
  void set_f64(const std::string& name, double value);  ///< keeps all bits, of NaN as well
  void set_bool(const std::string& name, bool value);
  void set_string(const std::string& name, std::string value);

  /// All throw IoError when the name is missing or its text is not of the type.
  std::int64_t get_i64(const std::string& name) const;
  std::uint64_t get_u64(const std::string& name) const;
  double get_f64(const std::string& name) const;
  bool get_bool(const std::string& name) const;
  const std::string& get_string(const std::string& name) const;
  bool has(const std::string& name) const { return state.contains(name); }

 private:
  std::string source_ = "checkpoint";
};

}  // namespace moiety::nn
