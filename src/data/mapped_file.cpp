// SPDX-License-Identifier: Apache-2.0
#include "data/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tensor/error.h"

namespace moiety::data {
namespace {

struct stat status_of(int descriptor, const std::string& path) {
  struct stat status {};
  const bool known = fstat(descriptor, &status) == 0;
  check<IoError>(known, path, ": cannot be read: ", std::strerror(errno));
  return status;
}

std::int64_t change_time(const struct stat& status) {
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

std::span<std::byte> reserve(int descriptor, std::size_t size, bool mapped,
                             const std::string& path) {
  if (size == 0) return {};
  void* data =
      mapped ? mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0)
             : mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check<IoError>(data != MAP_FAILED, path, ": cannot be mapped: ", std::strerror(errno));
  return {static_cast<std::byte*>(data), size};
}

void read_all(int descriptor, std::span<std::byte> into, const std::string& path) {
  for (std::size_t done = 0; done < into.size();) {
    const ssize_t got =
        pread(descriptor, into.data() + done, into.size() - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    check<IoError>(got > 0, path, ": cannot be read: ",
                   got == 0 ? "it became shorter meanwhile" : std::strerror(errno));
    done += static_cast<std::size_t>(got);
  }
}

}  // namespace

MappedFile::MappedFile(const std::string& path, std::int64_t largest_copy)
    : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  check<UserError>(descriptor_ >= 0, path, ": cannot be opened: ", std::strerror(errno));
  try {
    const struct stat status = status_of(descriptor_, path_);
    check<UserError>(S_ISREG(status.st_mode), path_, ": is not a regular file");
    changed_ns_ = change_time(status);
    mapped_ = status.st_size > largest_copy;
    const auto bytes =
        reserve(descriptor_, static_cast<std::size_t>(status.st_size), mapped_, path_);
    bytes_ = bytes;
    if (!mapped_) read_all(descriptor_, bytes, path_);
  } catch (...) {
    release();
    throw;
  }
}

MappedFile::~MappedFile() { release(); }

void MappedFile::release() noexcept {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  close(descriptor_);
}

void MappedFile::check_unchanged() const {
  const struct stat status = status_of(descriptor_, path_);
  check<IoError>(static_cast<std::size_t>(status.st_size) == bytes_.size() &&
                     change_time(status) == changed_ns_,
                 path_, ": was changed while it was in use; start again with a finished file");
}

void MappedFile::prefetch(std::int64_t offset, std::int64_t bytes) const {
  posix_fadvise(descriptor_, offset, bytes, POSIX_FADV_WILLNEED);
}

}  // namespace moiety::data
