// SPDX-License-Identifier: Apache-2.0
#include "tensor/cuda/gpus.h"

#include <cuda_runtime_api.h>

#include <charconv>
#include <sstream>

#include "tensor/cuda/check.h"
#include "tensor/device.h"

namespace moiety {
namespace {

int attribute(cudaDeviceAttr which, int index) {
  int value = 0;
  cuda_check(cudaDeviceGetAttribute(&value, which, index));
  return value;
}

/// The same for one word. Machine code ("-real") runs on its own major version from its minor one
/// on, PTX ("-virtual") on all that is newer; a word without an ending is both. Code that names
/// features of one architecture ("90a") runs there alone.
bool one_runs_on(std::string_view word, int major, int minor) {
  int number = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  if (error != std::errc()) return true;
  const std::string_view ending(stop, static_cast<std::size_t>(end - stop));
  if (ending.starts_with('a')) return number == 10 * major + minor;
  if (number / 10 == major && number % 10 <= minor && !ending.ends_with("-virtual")) return true;
  return number <= 10 * major + minor && !ending.ends_with("-real");
}

std::string problem_of(int index) {
  if (attribute(cudaDevAttrComputeMode, index) == cudaComputeModeProhibited) {
    return "its compute mode is Prohibited";
  }
  return lack_of_code(index);
}

}  // namespace

bool runs_on(std::string_view architectures, int major, int minor) {
  std::istringstream words{std::string(architectures)};
  bool none = true;
  for (std::string word; words >> word; none = false) {
    if (one_runs_on(word, major, minor)) return true;
  }
  return none;
}

std::string lack_of_code(int index) {
  const int major = attribute(cudaDevAttrComputeCapabilityMajor, index);
  const int minor = attribute(cudaDevAttrComputeCapabilityMinor, index);
  if (runs_on(MOIETY_CUDA_ARCHITECTURES, major, minor)) return "";
  return concat("it has compute capability ", major, ".", minor, " and this build code for ",
                MOIETY_CUDA_ARCHITECTURES, "; build with -DCMAKE_CUDA_ARCHITECTURES=native");
}

std::vector<GpuInfo> list_gpus() {
  std::vector<GpuInfo> gpus;
  const int count = cuda_status().count;
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties;
    cuda_check(cudaGetDeviceProperties(&properties, index));
    gpus.push_back({index, properties.name, properties.totalGlobalMem, problem_of(index)});
  }
  return gpus;
}

}  // namespace moiety
