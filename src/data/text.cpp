// SPDX-License-Identifier: Apache-2.0
#include "data/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

namespace moiety::data {

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool is_missing(std::string_view cell) {
  constexpr std::array<std::string_view, 5> kWords = {"na", "n/a", "nan", "null", "none"};
  const std::string_view text = trim(cell);
  if (text.empty()) return true;
  if (text.size() > 4) return false;
  return std::find(kWords.begin(), kWords.end(), to_lower(text)) != kWords.end();
}

std::optional<double> parse_number(std::string_view cell) {
  std::string_view text = trim(cell);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

std::string quoted_list(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 10;
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) {
    out += (i == 0 ? "'" : ", '") + names[i] + "'";
  }
  if (names.size() > kMost) out += ", ... (" + std::to_string(names.size()) + " in all)";
  return out;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out += '"';
}

}  // namespace moiety::data
