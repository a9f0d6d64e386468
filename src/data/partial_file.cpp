// SPDX-License-Identifier: Apache-2.0
#include "data/partial_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tensor/error.h"
#include "tensor/file_paths.h"

namespace moiety::data {
namespace {

/// Forces a file, or the names in a folder, onto the disk.
void sync_to_disk(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool done = descriptor >= 0 && (fsync(descriptor) == 0 || errno == EINVAL);
  const int error = errno;
  if (descriptor >= 0) close(descriptor);
  check<IoError>(done, path, ": cannot be written to the disk: ", std::strerror(error));
}

}  // namespace

PartialFile::PartialFile(const std::filesystem::path& final_path)
    : final_(output_place(final_path).string()), path_(final_ + ".partial") {}

PartialFile::~PartialFile() {
  if (!placed_) unlink(path_.c_str());
}

void PartialFile::place() {
  sync_to_disk(path_);
  placed_ = std::rename(path_.c_str(), final_.c_str()) == 0;
  check<IoError>(placed_, final_, ": cannot be written: ", std::strerror(errno));
  const auto folder = std::filesystem::path(final_).parent_path();
  sync_to_disk(folder.empty() ? "." : folder.string());
}

}  // namespace moiety::data
