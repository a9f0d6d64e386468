// SPDX-License-Identifier: Apache-2.0
#include "apps/text_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>

#include "nn/atomic_file.h"
#include "tensor/error.h"

namespace moiety::apps {

void write_atomically(const std::filesystem::path& path, std::string_view content) {
  nn::AtomicFile file(path);
  file.write(std::as_bytes(std::span(content)));
  file.commit();
}

std::string read_file(const std::filesystem::path& path) {
  check<IoError>(!std::filesystem::exists(path) || std::filesystem::is_regular_file(path),
                 path.string(), " is not a file but a folder, a pipe or a device");
  std::ifstream file(path, std::ios::binary);
  check<IoError>(file.good(), "cannot open ", path.string(), ": ", std::strerror(errno));
  std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  check<IoError>(!file.bad(), "cannot read ", path.string());
  return content;
}

}  // namespace moiety::apps
