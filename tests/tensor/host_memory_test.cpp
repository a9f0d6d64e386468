// SPDX-License-Identifier: Apache-2.0
#include "tensor/host_memory.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/temporary_folder.h"

namespace moiety {
namespace {

/// A machine of 8,000 KiB with 3,000 available and 500 of swap, and its control group's files.
class HostMemory : public ::testing::Test {
 protected:
  HostMemory() {
    write("proc/meminfo",
          "MemTotal:  8000 kB\nMemFree: 100 kB\nMemAvailable: 3000 kB\nSwapFree: 500 kB\n");
  }
  void write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  DeviceMemory memory() { return host_memory(folder_.path()); }

  testing::TemporaryFolder folder_;
};

TEST_F(HostMemory, IsTheMachinesWithoutALimit) {
  EXPECT_EQ(memory().total, 8000u << 10);
  EXPECT_EQ(memory().free, 3500u << 10);
  write("sys/fs/cgroup/memory.max", "max\n");
  EXPECT_EQ(memory().total, 8000u << 10);
}

TEST_F(HostMemory, IsTheControlGroupsWhereThatIsLess) {
  write("sys/fs/cgroup/memory.max", "4096000\n");
  write("sys/fs/cgroup/memory.current", "3072000\n");
  write("sys/fs/cgroup/memory.stat", "anon 1\nfile 2048000\ninactive_file 1024000\n");
  EXPECT_EQ(memory().total, 4096000u);
  EXPECT_EQ(memory().free, 2048000u);
  write("sys/fs/cgroup/memory.current", "9999999\n");
  EXPECT_EQ(memory().free, 0u);
}

TEST(HostMemoryOfThisMachine, IsKnown) {
  const DeviceMemory memory = host_memory();
  EXPECT_GT(memory.total, std::size_t{1} << 26);
  EXPECT_GT(memory.free, 0u);
}

}  // namespace
}  // namespace moiety
