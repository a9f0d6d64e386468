// SPDX-License-Identifier: Apache-2.0
#include "apps/machine.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <array>
#include <fstream>

#include "tensor/host_memory.h"

namespace moiety::apps {
namespace {

/// The value of the first "key : value" line of /proc/cpuinfo whose key is `wanted`, or "".
std::string cpu_info(const std::string& wanted) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with(wanted) && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

constexpr const char* vector_instructions() {
#if defined(__AVX512F__)
  return "AVX-512 (512 bits)";
#elif defined(__AVX2__)
  return "AVX2 (256 bits)";
#elif defined(__AVX__)
  return "AVX (256 bits)";
#elif defined(__ARM_FEATURE_SVE)
  return "SVE";
#elif defined(__ARM_NEON)
  return "NEON (128 bits)";
#elif defined(__SSE2__)
  return "SSE2 (128 bits)";
#else
  return "none";
#endif
}

}  // namespace

Machine describe_machine() {
  utsname system{};
  uname(&system);
  const std::string cpu = cpu_info("model name");
  return {.version = MOIETY_VERSION,
          .host = system.nodename,
          .system = fmt::format("{} {} {}", system.sysname, system.release, system.machine),
          .cpu = cpu.empty() ? system.machine : cpu,
          .cores = available_cores(),
          .vector_instructions = vector_instructions(),
          .memory_bytes = static_cast<std::int64_t>(host_memory().total),
          .gemm = MOIETY_GEMM_NAME,
          .gpus = list_gpus(),
          .gpu_note = cuda_status().reason};
}

nlohmann::json to_json(const Machine& machine) {
  nlohmann::json gpu_list = nlohmann::json::array();
  for (const GpuInfo& gpu : machine.gpus) {
    gpu_list.push_back({{"device", fmt::format("cuda:{}", gpu.index)},
                        {"name", gpu.name},
                        {"memory_bytes", gpu.memory_bytes},
                        {"problem", gpu.problem}});
  }
  return {{"version", machine.version},
          {"host", machine.host},
          {"system", machine.system},
          {"cpu", machine.cpu},
          {"cores", machine.cores},
          {"vector_instructions", machine.vector_instructions},
          {"memory_bytes", machine.memory_bytes},
          {"gemm", machine.gemm},
          {"gpus", machine.gpus.size()},
          {"gpu_note", machine.gpu_note},
          {"gpu_list", gpu_list}};
}

std::string format_bytes(std::int64_t bytes) {
  constexpr std::array kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; size >= 1024 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", size, kUnits[unit]);
}

}  // namespace moiety::apps
