// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace moiety::apps {

/// CRC-32C (Castagnoli) of the bytes: "123456789" -> 0xE3069283.
std::uint32_t crc32c(std::string_view bytes);

/// A TensorBoard event file: TFRecord frames around Event protobufs
/// (tensorflow/core/util/event.proto, tensorflow/core/lib/io/record_writer.cc).
class EventWriter {
 public:
  /// Opens a new file in `folder`, which is made where missing. A resumed training passes the step
  /// that it goes on from: TensorBoard then forgets what earlier files say of later steps.
  /// Throws IoError.
  explicit EventWriter(const std::filesystem::path& folder, std::int64_t resumed_at = 0);

  void scalar(std::string_view tag, std::int64_t step, double value);
  void flush() { out_.flush(); }

 private:
  void write_record(std::string_view event);

  std::ofstream out_;
};

}  // namespace moiety::apps
