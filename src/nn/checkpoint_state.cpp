// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <string_view>

#include "nn/checkpoint.h"

namespace moiety::nn {
namespace {

constexpr std::string_view kNan = "nan:";  // then its 64 bits, hexadecimal

template <class T, class... Format>
std::string format(T value, Format... how) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, how...).ptr;
  return {text.data(), end};
}

template <class T, class... Format>
bool parse(std::string_view text, T& value, Format... how) {
  const char* limit = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), limit, value, how...);
  return error == std::errc() && end == limit;
}

template <class T>
T get_number(const Checkpoint& checkpoint, const std::string& name, const char* type) {
  const std::string& text = checkpoint.get_string(name);
  T value{};
  check<IoError>(parse(text, value), checkpoint.source(), ": \"", name, "\" should be ", type,
                 ", but is \"", text, "\"");
  return value;
}

}  // namespace

void Checkpoint::set_i64(const std::string& name, std::int64_t value) {
  state[name] = format(value);
}

void Checkpoint::set_u64(const std::string& name, std::uint64_t value) {
  state[name] = format(value);
}

// The shortest decimal number that reads back as the same bits.
void Checkpoint::set_f64(const std::string& name, double value) {
  state[name] = std::isnan(value)
                    ? std::string(kNan) + format(std::bit_cast<std::uint64_t>(value), 16)
                    : format(value);
}

void Checkpoint::set_bool(const std::string& name, bool value) {
  state[name] = value ? "true" : "false";
}

void Checkpoint::set_string(const std::string& name, std::string value) {
  state[name] = std::move(value);
}

const std::string& Checkpoint::get_string(const std::string& name) const {
  const auto found = state.find(name);
  check<IoError>(found != state.end(), source_, ": there is no \"", name, "\" in it");
  return found->second;
}

std::int64_t Checkpoint::get_i64(const std::string& name) const {
  return get_number<std::int64_t>(*this, name, "a whole number");
}

std::uint64_t Checkpoint::get_u64(const std::string& name) const {
  return get_number<std::uint64_t>(*this, name, "a whole number of 0 or more");
}

double Checkpoint::get_f64(const std::string& name) const {
  const std::string_view text = get_string(name);
  std::uint64_t bits = 0;
  if (text.starts_with(kNan) && parse(text.substr(kNan.size()), bits, 16)) {
    return std::bit_cast<double>(bits);
  }
  return get_number<double>(*this, name, "a number");
}

bool Checkpoint::get_bool(const std::string& name) const {
  const std::string& text = get_string(name);
  check<IoError>(text == "true" || text == "false", source_, ": \"", name,
                 "\" should be true or false, but is \"", text, "\"");
  return text == "true";
}

}  // namespace moiety::nn
