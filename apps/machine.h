// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tensor/device.h"

namespace moiety::apps {

/// The machine and the program.
struct Machine {
  std::string version;  ///< of moiety
  std::string host;
  std::string system;               ///< kernel and its release
  std::string cpu;                  ///< the model's name
  int cores = 0;                    ///< that this process may use
  std::string vector_instructions;  ///< the widest that this build uses: "AVX-512", "AVX2", ...
  std::int64_t memory_bytes = 0;    ///< of the machine, or the cgroup's limit where that is less
  std::string gemm;                 ///< the library of dense products
  std::vector<GpuInfo> gpus;
  std::string gpu_note;  ///< why there is no GPU, "" where there is one
};

/// This machine.
Machine describe_machine();
nlohmann::json to_json(const Machine& machine);

/// "7.8 GiB".
std::string format_bytes(std::int64_t bytes);

}  // namespace moiety::apps
