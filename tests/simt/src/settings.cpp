// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include "memory.h"
#include "scheduler.h"
#include "simt/emulator.h"

namespace simt {
namespace {

template <class T>
T number_in(const char* variable, std::string_view text) {
  T value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || value < 0) {
    throw std::invalid_argument(concat(variable, ": '", text, "' is not such a number"));
  }
  return value;
}

Settings settings_of_environment() {
  Settings settings;
  if (const char* text = std::getenv("MOIETY_SIMT_ORDER")) {
    const std::string_view order = text;
    constexpr std::string_view kRandom = "random:";
    if (order == "reverse") {
      settings.order = Order::reverse;
    } else if (order.starts_with(kRandom)) {
      settings.order = Order::random;
      settings.seed = number_in<std::uint64_t>("MOIETY_SIMT_ORDER", order.substr(kRandom.size()));
    } else if (order != "sequential") {
      throw std::invalid_argument(
          concat("MOIETY_SIMT_ORDER: '", order, "' is not sequential, reverse or random:SEED"));
    }
  }
  if (const char* text = std::getenv("MOIETY_SIMT_PREEMPT")) {
    settings.preempt = number_in<double>("MOIETY_SIMT_PREEMPT", text);
  }
  if (const char* text = std::getenv("MOIETY_SIMT_MEMORY")) {
    settings.memory_bytes = number_in<std::size_t>("MOIETY_SIMT_MEMORY", text) << 20;
  }
  if (const char* text = std::getenv("MOIETY_SIMT_OFFERED")) {
    settings.offered = number_in<int>("MOIETY_SIMT_OFFERED", text) != 0;
  }
  return settings;
}

}  // namespace

Settings& settings() {
  static Settings settings = settings_of_environment();
  return settings;
}

Counters counters() {
  const std::lock_guard lock(runtime_mutex());
  return mutable_counters();
}

bool checks_memory() { return kChecks; }

}  // namespace simt
