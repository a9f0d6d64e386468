// SPDX-License-Identifier: Apache-2.0
#include "data/spool.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tensor/error.h"

namespace moiety::data {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{256} << 10;

}  // namespace

Spool::Spool(const std::string& path) : path_(path) {
  std::string name = path + ".spool-XXXXXX";
  const int descriptor = mkstemp(name.data());
  check<IoError>(descriptor >= 0, path, ": cannot write beside it: ", std::strerror(errno));
  unlink(name.c_str());
  file_.reset(fdopen(descriptor, "w+b"));
  if (!file_) close(descriptor);
  check<IoError>(file_ != nullptr, path, ": cannot write beside it: ", std::strerror(errno));
  std::setvbuf(file_.get(), nullptr, _IOFBF, kBufferBytes);
}

void Spool::append_bytes(const void* data, std::size_t bytes) {
  if (bytes == 0) return;
  const bool written = std::fwrite(data, 1, bytes, file_.get()) == bytes;
  check<IoError>(written, path_, ": cannot write beside it: ", std::strerror(errno));
  bytes_ += static_cast<std::int64_t>(bytes);
}

void Spool::append_text(const std::string& text) { append_bytes(text.c_str(), text.size() + 1); }

void Spool::rewind() {
  const bool written = std::fflush(file_.get()) == 0;
  check<IoError>(written, path_, ": cannot write beside it: ", std::strerror(errno));
  std::rewind(file_.get());
}

void Spool::read(std::span<std::byte> to) {
  const bool whole = std::fread(to.data(), 1, to.size(), file_.get()) == to.size();
  check<IoError>(whole, path_,
                 ": cannot read back what was written beside it: ", std::strerror(errno));
}

std::string Spool::read_text() {
  std::string text;
  for (int c = std::getc(file_.get()); c > 0; c = std::getc(file_.get())) {
    text.push_back(static_cast<char>(c));
  }
  check<IoError>(std::ferror(file_.get()) == 0, path_,
                 ": cannot read back what was written beside it: ", std::strerror(errno));
  return text;
}

}  // namespace moiety::data
