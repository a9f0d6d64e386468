// SPDX-License-Identifier: Apache-2.0
#include "nn/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "tensor/error.h"
#include "tensor/file_paths.h"

namespace moiety::nn {
namespace {

/// Makes a rename in the folder survive a power failure, where the file system can.
bool flush_folder(const std::filesystem::path& folder) {
  const int descriptor =
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool flushed = ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP;
  const int error = errno;
  ::close(descriptor);
  errno = error;
  return flushed;
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& path)
    : path_(output_place(path)), beside_(path_) {
  beside_ += ".tmp";
  descriptor_ = ::open(beside_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor_ < 0) fail("create");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(beside_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  if (::fsync(descriptor_) != 0) fail("flush");
  if (::rename(beside_.c_str(), path_.c_str()) != 0) fail("rename");
  ::close(std::exchange(descriptor_, -1));
  if (!flush_folder(path_.parent_path())) fail("flush the folder of");
}

void AtomicFile::fail(const char* what) const {
  throw IoError(concat("cannot ", what, " ", (descriptor_ < 0 ? path_ : beside_).string(), ": ",
                       std::strerror(errno)));
}

}  // namespace moiety::nn
