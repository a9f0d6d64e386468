// SPDX-License-Identifier: Apache-2.0
#include "nn/safetensors_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "tensor/error.h"

namespace moiety::nn {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

constexpr std::int64_t kLengthBytes = 8;

}  // namespace

SafetensorsFile::Descriptor::Descriptor(const std::filesystem::path& path)
    // O_NONBLOCK: opening a pipe would wait for its writer.
    : value(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  check<IoError>(value >= 0, "cannot open ", path.string(), ": ", std::strerror(errno));
}

SafetensorsFile::Descriptor::~Descriptor() { ::close(value); }

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : name_(path.string()), descriptor_(path) {
  struct stat status = {};
  const bool known = ::fstat(descriptor_.value, &status) == 0;
  check<IoError>(known, "cannot read ", name_, ": ", std::strerror(errno));
  check<IoError>(S_ISREG(status.st_mode), name_, " is not a file");
  check<IoError>(status.st_size > kLengthBytes, name_, " has only ", status.st_size,
                 " bytes; it is truncated or no safetensors file");
  std::uint64_t length = 0;
  read_at(0, std::as_writable_bytes(std::span(&length, 1)));
  const std::int64_t rest = status.st_size - kLengthBytes;
  check<IoError>(length <= static_cast<std::uint64_t>(std::min(rest, kMostHeaderBytes)), name_,
                 " announces a header of ", length, " bytes, but has ", rest,
                 " left; it is truncated, damaged or no safetensors file");
  header_text_.resize(length);
  read_at(kLengthBytes, std::as_writable_bytes(std::span(header_text_)));
  data_begin_ = kLengthBytes + static_cast<std::int64_t>(length);
  data_bytes_ = status.st_size - data_begin_;
}

void SafetensorsFile::read(std::int64_t begin, std::span<std::byte> to) const {
  read_at(data_begin_ + begin, to);
}

void SafetensorsFile::read_at(std::int64_t offset, std::span<std::byte> to) const {
  while (!to.empty()) {
    const ssize_t count = ::pread(descriptor_.value, to.data(), to.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    check<IoError>(count >= 0, "cannot read ", name_, ": ", std::strerror(errno));
    check<IoError>(count > 0, name_, " became shorter while it was read");
    to = to.subspan(static_cast<std::size_t>(count));
    offset += count;
  }
}

}  // namespace moiety::nn
