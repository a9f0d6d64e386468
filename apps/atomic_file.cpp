// SPDX-License-Identifier: Apache-2.0
#include "apps/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "tensor/error.h"

namespace moiety::apps {
namespace {

[[noreturn]] void fail(const char* what, const std::filesystem::path& path) {
  throw IoError(concat("cannot ", what, " ", path.string(), ": ", std::strerror(errno)));
}

/// An open file descriptor.
class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags)
      : value_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {
    if (value_ < 0) fail("open", path);
  }
  ~Descriptor() { ::close(value_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }

 private:
  int value_;
};

void write_all(int descriptor, std::string_view content, const std::filesystem::path& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", path);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// Makes the rename itself survive a power failure. Some file systems cannot: no harm.
void flush_folder(const std::filesystem::path& folder) {
  const Descriptor descriptor(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
  ::fsync(descriptor.get());
}

}  // namespace

std::filesystem::path temporary_path(const std::filesystem::path& path) {
  return std::filesystem::path(path) += ".tmp";
}

void write_atomically(const std::filesystem::path& path, std::string_view content) {
  const std::filesystem::path beside = temporary_path(path);
  {
    const Descriptor descriptor(beside, O_WRONLY | O_CREAT | O_TRUNC);
    write_all(descriptor.get(), content, beside);
    if (::fsync(descriptor.get()) != 0) fail("flush", beside);
  }
  if (::rename(beside.c_str(), path.c_str()) != 0) fail("replace", path);
  flush_folder(path.parent_path());
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail("open", path);
  std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) fail("read", path);
  return content;
}

}  // namespace moiety::apps
