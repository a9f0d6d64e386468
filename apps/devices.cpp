// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <memory>

#include "apps/commands.h"
#include "apps/machine.h"

namespace moiety::apps {
namespace {

void print(const Machine& machine) {
  const std::string gpus = machine.gpus.empty() ? fmt::format("none: {}", machine.gpu_note)
                                                : fmt::format("{}", machine.gpus.size());
  fmt::print("CPU                  {}\n", machine.cpu);
  fmt::print("cores usable         {}\n", machine.cores);
  fmt::print("vector instructions  {}\n", machine.vector_instructions);
  fmt::print("memory               {}\n", format_bytes(machine.memory_bytes));
  fmt::print("dense products       {}\n", machine.gemm);
  fmt::print("GPUs                 {}\n", gpus);
  for (const GpuInfo& gpu : machine.gpus) {
    fmt::print("  cuda:{:<13} {}, {}{}{}\n", gpu.index, gpu.name,
               format_bytes(static_cast<std::int64_t>(gpu.memory_bytes)),
               gpu.problem.empty() ? "" : "; auto passes it over: ", gpu.problem);
  }
  fmt::print("system               {}\n", machine.system);
  fmt::print("moiety               {}\n", machine.version);
}

}  // namespace

void add_devices(CLI::App& app) {
  CLI::App* command = app.add_subcommand("devices", "Show what this machine has to train on");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print JSON");
  command->callback([json] {
    const Machine machine = describe_machine();
    if (*json) {
      fmt::print("{}\n", to_json(machine).dump(2));
    } else {
      print(machine);
    }
  });
}

}  // namespace moiety::apps
