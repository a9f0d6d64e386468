// SPDX-License-Identifier: Apache-2.0
#include "apps/device_option.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "apps/console.h"

namespace moiety::apps {

CLI::Option* add_device_option(CLI::App& command, std::string& device) {
  return command.add_option("--device", device,
                            "auto (a GPU where one can be used), cpu, cuda or cuda:N");
}

std::unique_ptr<Device> open_device(const std::string& name, int threads) {
  std::unique_ptr<Device> device = make_device(name, threads);
  if (name == "auto" && !device->is_cuda()) {
    for (const GpuInfo& gpu : list_gpus()) {
      print_notice(fmt::format("on the CPU, not on cuda:{} ({}): {}", gpu.index, gpu.name,
                               gpu.problem.empty() ? "it does not open" : gpu.problem));
    }
  }
  return device;
}

}  // namespace moiety::apps
