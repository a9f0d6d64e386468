// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/text_input.h"
#include "tensor/error.h"

namespace moiety::data {

/// A column that a table does not have; what() lists those that it has.
class UnknownColumn : public UserError {
 public:
  UnknownColumn(const std::string& table, std::string name, std::vector<std::string> columns);
  const std::string& name() const { return name_; }
  const std::vector<std::string>& columns() const { return columns_; }

 private:
  std::string name_;
  std::vector<std::string> columns_;
};

/// One record of a table.
struct TableRow {
  std::int64_t line = 0;            ///< where it begins in the file, from 1
  std::vector<std::string> fields;  ///< as many as there are columns, unless there is a problem
  std::string problem;              ///< why the record cannot be read; "" when it can
};

/// Reads a table of text (CSV, TSV and their kin) record by record: a header, then rows. Fields may
/// be quoted and then hold delimiters, line ends and doubled quotes; lines end in LF, CRLF or CR;
/// blank lines do not count. A row that cannot be read costs itself alone: reading goes on at the
/// next line.
class TableReader {
 public:
  /// `delimiter` is one of , ; | tab or blank; 0 takes the most frequent one of the header, a blank
  /// only where there is no other. Throws UserError for a file without a header.
  explicit TableReader(const std::filesystem::path& path, char delimiter = 0);

  /// The next row, or false at the end of the file.
  bool next(TableRow& row);

  const std::vector<std::string>& columns() const { return columns_; }
  /// The number of the column called `name`. Throws UnknownColumn, and UserError where several
  /// columns have that name.
  std::size_t column(std::string_view name) const;

  char delimiter() const { return delimiter_; }
  std::int64_t bytes_read() const { return input_.offset(); }

 private:
  bool skip_blank_lines();
  void read_record(TableRow& row);
  std::size_t read_field(std::size_t at, std::string& field, std::string& problem);
  std::size_t read_quoted(std::size_t at, std::string& field, std::string& problem);
  bool ends_field(int c) const;

  TextInput input_;
  char delimiter_;
  std::vector<std::string> columns_;
};

}  // namespace moiety::data
