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
  check<IoError>(fstat(descriptor, &status) == 0, path, ": cannot be read: ", std::strerror(errno));
  return status;
}

std::int64_t change_time(const struct stat& status) {
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

std::span<const std::byte> map(int descriptor, std::size_t size, const std::string& path) {
  if (size == 0) return {};
  void* data = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  check<IoError>(data != MAP_FAILED, path, ": cannot be mapped: ", std::strerror(errno));
  return {static_cast<const std::byte*>(data), size};
}

}  // namespace

MappedFile::MappedFile(const std::string& path)
    : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  check<IoError>(descriptor_ >= 0, path, ": cannot be opened: ", std::strerror(errno));
  try {
    const struct stat status = status_of(descriptor_, path_);
    check<IoError>(S_ISREG(status.st_mode), path_, ": is not a regular file");
    changed_ns_ = change_time(status);
    bytes_ = map(descriptor_, static_cast<std::size_t>(status.st_size), path_);
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

MappedFile::~MappedFile() {
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
