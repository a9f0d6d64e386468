// SPDX-License-Identifier: Apache-2.0
#include "data/table.h"

#include <algorithm>
#include <utility>

#include "data/text.h"

namespace moiety::data {
namespace {

constexpr std::string_view kDelimiters = ",\t;|";

bool ends_line(int c) { return c == -1 || c == '\n' || c == '\r'; }

/// The delimiter that the header uses most, not counting quoted text.
char detect_delimiter(std::string_view header) {
  std::vector<std::size_t> counts(kDelimiters.size(), 0);
  bool quoted = false;
  for (const char c : header) {
    if (c == '"') quoted = !quoted;
    const auto which = kDelimiters.find(c);
    if (!quoted && which != std::string_view::npos) ++counts[which];
  }
  const auto most = std::max_element(counts.begin(), counts.end());
  if (*most > 0) return kDelimiters[static_cast<std::size_t>(most - counts.begin())];
  return trim(header).find(' ') != std::string_view::npos ? ' ' : ',';
}

}  // namespace

UnknownColumn::UnknownColumn(const std::string& table, std::string name,
                             std::vector<std::string> columns)
    : UserError(concat(table, " has no column '", name, "'; its first line names ",
                       quoted_list(columns))),
      name_(std::move(name)),
      columns_(std::move(columns)) {}

TableReader::TableReader(const std::filesystem::path& path, char delimiter)
    : input_(path), delimiter_(delimiter) {
  check<UserError>(
      delimiter == 0 || delimiter == ' ' || kDelimiters.find(delimiter) != std::string_view::npos,
      "'", delimiter, "' cannot delimit fields; use , ; | tab or space");
  check<UserError>(skip_blank_lines(), path.string(), " is empty: a table needs a header");
  if (delimiter_ == 0) delimiter_ = detect_delimiter(input_.view(input_.line_length()));
  TableRow header;
  read_record(header);
  check<UserError>(header.problem.empty(), path.string(), ":", header.line, ": the header has ",
                   header.problem);
  for (const std::string& name : header.fields) columns_.emplace_back(trim(name));
}

std::size_t TableReader::column(std::string_view name) const {
  const auto found = std::find(columns_.begin(), columns_.end(), name);
  if (found == columns_.end()) {
    throw UnknownColumn(input_.path().string(), std::string(name), columns_);
  }
  check<UserError>(std::find(found + 1, columns_.end(), name) == columns_.end(),
                   input_.path().string(), " has several columns '", name, "'; rename all but one");
  return static_cast<std::size_t>(found - columns_.begin());
}

bool TableReader::next(TableRow& row) {
  if (!skip_blank_lines()) return false;
  read_record(row);
  if (row.problem.empty() && row.fields.size() != columns_.size()) {
    row.problem = concat(row.fields.size(), row.fields.size() == 1 ? " field" : " fields",
                         " where the header has ", columns_.size());
  }
  return true;
}

bool TableReader::skip_blank_lines() {
  for (;;) {
    if (input_.peek(0) == -1) return false;
    const std::size_t length = input_.line_length();
    if (!trim(input_.view(length)).empty()) return true;
    input_.skip_line();
  }
}

/// Reads fields up to the end of the record and consumes it; a record with a problem ends with its
/// first line, so that a stray quote does not swallow the rows behind it.
void TableReader::read_record(TableRow& row) {
  row.line = input_.line();
  row.problem.clear();
  std::size_t at = 0;
  std::size_t count = 0;
  for (;;) {
    if (row.fields.size() == count) row.fields.emplace_back();
    at = read_field(at, row.fields[count++], row.problem);
    if (!row.problem.empty() || ends_line(input_.peek(at))) break;
    ++at;
  }
  row.fields.resize(count);
  if (!row.problem.empty()) {
    input_.skip_line();
    return;
  }
  input_.consume(at);
  input_.consume_line_end();
}

bool TableReader::ends_field(int c) const { return ends_line(c) || c == delimiter_; }

/// Reads the field that begins `at` characters ahead; returns where its delimiter is.
std::size_t TableReader::read_field(std::size_t at, std::string& field, std::string& problem) {
  field.clear();
  while (delimiter_ == ' ' && input_.peek(at) == ' ') ++at;
  if (input_.peek(at) == '"') {
    at = read_quoted(at + 1, field, problem);
  } else {
    for (int c = input_.peek(at); !ends_field(c) && at <= TextInput::kLongestRecord;
         c = input_.peek(++at)) {
      field += static_cast<char>(c);
    }
  }
  if (delimiter_ == ' ') {  // a run of blanks is one delimiter, and none at the end of a line
    std::size_t behind = at;
    while (input_.peek(behind) == ' ') ++behind;
    if (behind > at) at = ends_line(input_.peek(behind)) ? behind : behind - 1;
  }
  if (at > TextInput::kLongestRecord && problem.empty()) {
    problem = concat("more than ", TextInput::kLongestRecord, " characters");
  }
  return at;
}

/// The same for a quoted field, from behind its opening quote.
std::size_t TableReader::read_quoted(std::size_t at, std::string& field, std::string& problem) {
  for (;;) {
    const int c = input_.peek(at);
    if (c == -1 || at > TextInput::kLongestRecord) {
      problem = "a quote that is never closed";
      return at;
    }
    ++at;
    if (c != '"') {
      field += static_cast<char>(c);
    } else if (input_.peek(at) == '"') {
      field += '"';
      ++at;
    } else {
      break;
    }
  }
  while (input_.peek(at) == ' ' && delimiter_ != ' ') ++at;
  if (!ends_field(input_.peek(at))) problem = "text behind a closing quote";
  return at;
}

}  // namespace moiety::data
