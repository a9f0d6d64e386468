// SPDX-License-Identifier: Apache-2.0
#include "tensor/device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace moiety {
namespace {

TEST(Device, TheCpuHasOneStreamForEveryRole) {
  const auto device = make_device("cpu", 3);
  EXPECT_EQ(device->name(), "cpu");
  EXPECT_FALSE(device->is_cuda());
  EXPECT_EQ(device->stream().pool().threads(), 3);
  EXPECT_EQ(&device->stream(StreamRole::copy), &device->stream(StreamRole::compute));
  EXPECT_EQ(&device->stream().device(), device.get());
}

TEST(Device, AutoIsTheFirstGpuFitForUseOrElseTheCpuWithAllCores) {
  const auto device = make_device("auto");
  const std::vector<GpuInfo> gpus = list_gpus();
  EXPECT_EQ(static_cast<int>(gpus.size()), cuda_status().count);
  const auto fit = std::ranges::find(gpus, "", &GpuInfo::problem);
  EXPECT_EQ(device->name(), fit == gpus.end() ? "cpu" : "cuda:" + std::to_string(fit->index));
  EXPECT_EQ(device->host().stream().pool().threads(), available_cores());
}

TEST(Device, CopiesMayOverlap) {
  const auto device = make_cpu_device(1);
  std::array<char, 6> text = {'a', 'b', 'c', 'd', 'e', 'f'};
  device->copy_bytes(text.data() + 1, text.data(), 5, device->stream());
  EXPECT_EQ(std::string(text.data(), 6), "aabcde");
  device->fill_zero(text.data(), 2, device->stream());
  EXPECT_EQ(text[1], 0);
  EXPECT_EQ(text[2], 'b');
  device->copy_bytes(nullptr, nullptr, 0, device->stream());
}

TEST(Device, UnknownNamesAreTheUsersMistake) {
  for (const char* name : {"", "gpu", "CPU", "cuda:", "cuda:x", "cuda:1x", "cuda:-1", "cpu:0",
                           "cuda:99999999999999999999"}) {
    EXPECT_THROW(make_device(name), UserError) << name;
  }
}

TEST(Device, ThreadsAreChecked) {
  EXPECT_THROW(make_device("cpu", -1), UserError);
  EXPECT_THROW(make_device("cpu", 4097), UserError);
}

TEST(Device, CudaInVainSaysWhy) {
  const CudaStatus status = cuda_status();
  EXPECT_EQ(status.count == 0, !status.reason.empty());
  const std::string missing = "cuda:" + std::to_string(status.count);
  try {
    make_device(missing);
    FAIL() << missing << " exists";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("device cuda"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(status.reason), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace moiety
