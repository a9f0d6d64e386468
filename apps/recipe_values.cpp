// SPDX-License-Identifier: Apache-2.0
#include "apps/recipe_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

#include "apps/suggest.h"
#include "tensor/error.h"

namespace moiety::apps {
namespace {

/// The node as TOML in one line.
std::string shown(const toml::node& value) {
  std::ostringstream out;
  out << toml::toml_formatter(value, toml::format_flags::none);
  std::string text = out.str();
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

// convert() gives nothing where the value is of another type.

std::optional<bool> convert(const toml::node& value, const bool&) {
  return value.value_exact<bool>();
}

std::optional<std::int64_t> convert(const toml::node& value, const std::int64_t&) {
  return value.value_exact<std::int64_t>();
}

std::optional<double> convert(const toml::node& value, const double&) {
  if (!value.is_number()) return std::nullopt;
  const auto number = value.value<double>();
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<std::string> convert(const toml::node& value, const std::string&) {
  return value.value_exact<std::string>();
}

std::optional<std::vector<std::string>> convert(const toml::node& value,
                                                const std::vector<std::string>&) {
  if (const auto* text = value.as_string()) return split_at_commas(text->get());
  const toml::array* array = value.as_array();
  if (array == nullptr) return std::nullopt;
  std::vector<std::string> names;
  for (const toml::node& element : *array) {
    const auto* text = element.as_string();
    if (text == nullptr) return std::nullopt;
    names.push_back(text->get());
  }
  return names;
}

std::optional<Span> convert(const toml::node& value, const Span&) {
  const auto* text = value.as_string();
  return text != nullptr ? parse_span(text->get()) : std::nullopt;
}

std::optional<double> magnitude(std::int64_t value) { return static_cast<double>(value); }
std::optional<double> magnitude(double value) { return value; }
std::optional<double> magnitude(const Span& value) { return value.count; }
template <class T>
std::optional<double> magnitude(const T&) {
  return std::nullopt;
}

std::string it_takes(const Key& key) { return "; it takes " + describe_allowed(key); }

void check_range(const std::string& place, const Key& key, const toml::node& value, double number) {
  const auto* range = std::get_if<Range>(&key.allowed);
  check<UserError>(range == nullptr || range->contains(number), place, ": ", key.name, " = ",
                   shown(value), " is out of range", it_takes(key));
}

void check_word(const std::string& place, const Key& key, const std::string& word) {
  const auto* choice = std::get_if<OneOf>(&key.allowed);
  if (choice == nullptr || std::ranges::count(choice->words, word) > 0) return;
  check<UserError>(std::ranges::count(choice->later, word) == 0, place, ": ", key.name, " = \"",
                   word, "\" is not in this version", it_takes(key));
  const std::vector<std::string> words(choice->words.begin(), choice->words.end());
  throw UserError(concat(place, ": ", key.name, " = \"", word,
                         "\" is unknown: ", describe_allowed(key), did_you_mean(word, words)));
}

std::string quoted(const std::string& text) { return shown(toml::value<std::string>(text)); }

std::string format(bool value) { return value ? "true" : "false"; }
std::string format(std::int64_t value) { return fmt::format("{}", value); }
std::string format(const std::string& value) { return quoted(value); }
std::string format(const Span& value) { return quoted(to_string(value)); }

std::string format(double value) {
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string format(const std::vector<std::string>& names) {
  std::vector<std::string> quoted_names;
  for (const std::string& name : names) quoted_names.push_back(quoted(name));
  return fmt::format("[{}]", fmt::join(quoted_names, ", "));
}

}  // namespace

void assign(const std::string& place, const Key& key, const toml::node& value) {
  const auto store = [&](auto* field) {
    const auto converted = convert(value, *field);
    check<UserError>(converted.has_value(), place, ": ", key.name, " = ", shown(value),
                     " is of the wrong type", it_takes(key));
    if (const auto number = magnitude(*converted)) check_range(place, key, value, *number);
    if constexpr (std::is_same_v<decltype(field), std::string*>) check_word(place, key, *converted);
    *field = *converted;
  };
  std::visit(store, key.field);
}

std::string format_value(const Field& field) {
  return std::visit([](const auto* value) { return format(*value); }, field);
}

std::vector<KeyChange> changed_keys(Recipe before, Recipe after) {
  const std::vector<Key> old_keys = recipe_keys(before);
  const std::vector<Key> new_keys = recipe_keys(after);
  std::vector<KeyChange> changes;
  for (std::size_t i = 0; i < old_keys.size(); ++i) {
    KeyChange change{old_keys[i].name, format_value(old_keys[i].field),
                     format_value(new_keys[i].field)};
    if (change.before != change.after) changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace moiety::apps
