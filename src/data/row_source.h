// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace moiety::data {

/// One row of a source, before any chemistry.
struct SourceRow {
  std::int64_t line = 0;  ///< where it begins in the file, from 1
  std::string smiles;
  std::string id;
  std::vector<std::string> targets;  ///< [T] cells as they stand
  std::string split;                 ///< cell of the split column
  std::string problem;               ///< why the row cannot be read; "" when it can
};

/// Which columns of a table to take; a .smi file has none but SMILES and a title, its id.
struct SourceColumns {
  std::string smiles;  ///< "" takes the first that is named like one
  std::string id;      ///< "" for none
  std::vector<std::string> targets;
  std::string split;   ///< "" for none
  char delimiter = 0;  ///< 0 detects it
};

/// Rows of one file, in order.
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// The next row, or false at the end.
  virtual bool next(SourceRow& row) = 0;
  virtual std::int64_t bytes_read() const = 0;
};

/// Opens a table of text or, by its ending, a file of SMILES lines (.smi). Throws UserError for
/// another format or a column that is not there.
std::unique_ptr<RowSource> open_source(const std::filesystem::path& path,
                                       const SourceColumns& columns);

/// The column that holds SMILES, by its name. Throws UserError listing the columns when none does.
std::string guess_smiles_column(const std::vector<std::string>& columns,
                                const std::filesystem::path& table);

}  // namespace moiety::data
