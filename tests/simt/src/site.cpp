// SPDX-License-Identifier: Apache-2.0
#include "site.h"

#include <link.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <climits>
#include <cstdio>
#include <cstring>

// Set by the linker: the first and the last byte of the executable in memory.
extern "C" const char __executable_start;
extern "C" const char _end;

namespace simt {
namespace {

constexpr std::uint32_t kIsPlace = std::uint32_t{1} << 31;
static_assert(sizeof(Place) == sizeof(void*), "a place is a pointer to constant data");

std::uint32_t offset_of(const void* address) {
  return static_cast<std::uint32_t>(static_cast<const char*>(address) - &__executable_start);
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// What was added to the addresses in the file when the executable was loaded.
std::uintptr_t load_bias() {
  std::uintptr_t bias = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        *static_cast<std::uintptr_t*>(result) = info->dlpi_addr;
        return 1;  // the executable comes first
      },
      &bias);
  return bias;
}

/// "file:line" of the instruction before `address`: of the inlined functions there, the innermost
/// that does not belong to the emulator.
std::string line_of(const char* address) {
  std::array<char, PATH_MAX> executable{};
  if (readlink("/proc/self/exe", executable.data(), executable.size() - 1) < 0) return "?";
  std::array<char, PATH_MAX + 64> command{};
  std::snprintf(command.data(), command.size(), "addr2line -i -e '%s' 0x%zx 2>/dev/null",
                executable.data(), reinterpret_cast<std::uintptr_t>(address) - 1 - load_bias());
  FILE* const output = popen(command.data(), "r");
  if (output == nullptr) return "?";
  std::array<char, PATH_MAX + 64> line{};
  std::string found = "?";
  while (std::fgets(line.data(), line.size(), output) != nullptr) {
    const std::string text(line.data(), std::strcspn(line.data(), " \n"));
    if (found == "?" && text.find("/simt/include/") == std::string::npos) found = file_name(text);
  }
  pclose(output);
  return found;
}

}  // namespace

std::string text_of(const Place& place) {
  return file_name(place.file_name()) + ":" + std::to_string(place.line());
}

Site Site::of_call(const void* return_address) { return Site(offset_of(return_address)); }

Site Site::of(const Place& place) {
  return Site(offset_of(std::bit_cast<const void*>(place)) | kIsPlace);
}

std::string Site::text() const {
  const char* const address = &__executable_start + (bits_ & ~kIsPlace);
  if ((bits_ & kIsPlace) != 0) return text_of(std::bit_cast<Place>(address));
  return line_of(address);
}

bool is_in_executable(const void* memory) {
  return static_cast<const char*>(memory) >= &__executable_start &&
         static_cast<const char*>(memory) < &_end;
}

}  // namespace simt
