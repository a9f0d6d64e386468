// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/App.hpp>
#include <memory>
#include <string>

#include "tensor/device.h"

namespace moiety::apps {

/// Adds --device, which all commands that compute have.
CLI::Option* add_device_option(CLI::App& command, std::string& device);

/// make_device(), with a notice where "auto" is the CPU though there are GPUs: why it is not one.
std::unique_ptr<Device> open_device(const std::string& name, int threads);

}  // namespace moiety::apps
