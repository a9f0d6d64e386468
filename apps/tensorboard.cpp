// SPDX-License-Identifier: Apache-2.0
#include "apps/tensorboard.h"

#include <unistd.h>

#include <array>
#include <bit>
#include <chrono>
#include <concepts>
#include <string>

#include "tensor/error.h"

namespace moiety::apps {
namespace {

// Field numbers of tensorflow/core/util/event.proto and framework/summary.proto.
constexpr int kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7;
constexpr int kSummaryValue = 1, kValueTag = 1, kSimpleValue = 2;
constexpr int kSessionStatus = 1;
constexpr std::uint64_t kSessionStart = 1;

enum class WireType : std::uint64_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

constexpr std::array<std::uint32_t, 256> kCrcTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0x82F63B78u : 0u);
    table[i] = crc;
  }
  return table;
}();

template <std::unsigned_integral T>
void append_little_endian(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof value; ++i) {
    out.push_back(static_cast<char>((value >> (8 * i)) & 0xFF));
  }
}

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(0x80 | (value & 0x7F)));
  out.push_back(static_cast<char>(value));
}

void append_tag(std::string& out, int field, WireType type) {
  append_varint(out, static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(type));
}

void append_integer(std::string& out, int field, std::uint64_t value) {
  append_tag(out, field, WireType::varint);
  append_varint(out, value);
}

void append_double(std::string& out, int field, double value) {
  append_tag(out, field, WireType::fixed64);
  append_little_endian(out, std::bit_cast<std::uint64_t>(value));
}

void append_float(std::string& out, int field, float value) {
  append_tag(out, field, WireType::fixed32);
  append_little_endian(out, std::bit_cast<std::uint32_t>(value));
}

void append_bytes(std::string& out, int field, std::string_view value) {
  append_tag(out, field, WireType::bytes);
  append_varint(out, value.size());
  out.append(value);
}

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string new_event(std::int64_t step) {
  std::string event;
  append_double(event, kWallTime, seconds_since_1970());
  append_integer(event, kStep, static_cast<std::uint64_t>(step));
  return event;
}

/// The mask of tensorflow/core/lib/hash/crc32c.h: a CRC of data that holds CRCs is weak.
std::uint32_t masked_crc(std::string_view bytes) {
  return std::rotr(crc32c(bytes), 15) + 0xA282EAD8u;
}

/// events.out.tfevents.<seconds>.<host>.<process>, the pattern that TensorBoard looks for.
std::string file_name() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return concat("events.out.tfevents.", static_cast<std::int64_t>(seconds_since_1970()), ".",
                host.data(), ".", getpid());
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc = (crc >> 8) ^ kCrcTable[(crc ^ static_cast<unsigned char>(byte)) & 0xFF];
  }
  return ~crc;
}

EventWriter::EventWriter(const std::filesystem::path& folder, std::int64_t resumed_at) {
  std::filesystem::create_directories(folder);
  const std::filesystem::path path = folder / file_name();
  out_.open(path, std::ios::binary | std::ios::app);
  check<IoError>(out_.good(), "cannot write ", path.string());
  std::string version = new_event(0);
  append_bytes(version, kFileVersion, "brain.Event:2");
  write_record(version);
  if (resumed_at > 0) {
    std::string log;
    append_integer(log, kSessionStatus, kSessionStart);
    std::string event = new_event(resumed_at + 1);
    append_bytes(event, kSessionLog, log);
    write_record(event);
  }
}

void EventWriter::scalar(std::string_view tag, std::int64_t step, double value) {
  std::string entry;
  append_bytes(entry, kValueTag, tag);
  append_float(entry, kSimpleValue, static_cast<float>(value));
  std::string summary;
  append_bytes(summary, kSummaryValue, entry);
  std::string event = new_event(step);
  append_bytes(event, kSummary, summary);
  write_record(event);
}

void EventWriter::write_record(std::string_view event) {
  std::string frame;
  append_little_endian(frame, static_cast<std::uint64_t>(event.size()));
  append_little_endian(frame, masked_crc(frame));
  frame.append(event);
  append_little_endian(frame, masked_crc(event));
  out_.write(frame.data(), static_cast<std::streamsize>(frame.size()));
}

}  // namespace moiety::apps
