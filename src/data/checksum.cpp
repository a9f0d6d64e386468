// SPDX-License-Identifier: Apache-2.0
#include "data/checksum.h"

#include <iomanip>
#include <sstream>

#include "data/mapped_file.h"
#include "tensor/checksum.h"

namespace moiety::data {

std::string file_checksum(const std::string& path) {
  const MappedFile file(path);
  std::ostringstream out;
  out << "xxh64:" << std::hex << std::setw(16) << std::setfill('0') << xxh64(file.bytes());
  return out.str();
}

}  // namespace moiety::data
