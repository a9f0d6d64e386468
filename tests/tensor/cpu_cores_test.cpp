// SPDX-License-Identifier: Apache-2.0
#include "tensor/cpu_cores.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <fstream>

#include "tensor/device.h"

namespace moiety {
namespace {

namespace fs = std::filesystem;

class CgroupQuota : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "moiety_cgroup_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }

  fs::path root_;
};

TEST_F(CgroupQuota, IsInfiniteWithoutFiles) { EXPECT_TRUE(std::isinf(cgroup_quota_cores(root_))); }

TEST_F(CgroupQuota, ReadsVersion2) {
  write("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_TRUE(std::isinf(cgroup_quota_cores(root_)));
  write("sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_EQ(cgroup_quota_cores(root_), 2) << "rounded up";
}

TEST_F(CgroupQuota, TakesTheTightestOfAGroupAndItsParents) {
  write("proc/self/cgroup", "0::/jobs/job7/step0\n");
  write("sys/fs/cgroup/jobs/cpu.max", "800000 100000\n");
  write("sys/fs/cgroup/jobs/job7/cpu.max", "300000 100000\n");
  write("sys/fs/cgroup/jobs/job7/step0/cpu.max", "max 100000\n");
  EXPECT_EQ(cgroup_quota_cores(root_), 3);
}

TEST_F(CgroupQuota, ReadsVersion1) {
  write("proc/self/cgroup", "5:memory:/docker/abc\n3:cpuset:/x\n2:cpu,cpuacct:/docker/abc\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_TRUE(std::isinf(cgroup_quota_cores(root_)));
  write("sys/fs/cgroup/cpu/docker/cpu.cfs_quota_us", "50000\n");
  write("sys/fs/cgroup/cpu/docker/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_quota_cores(root_), 1);
}

TEST_F(CgroupQuota, IgnoresNonsense) {
  write("proc/self/cgroup", "\nnonsense\n1:\n::::\n0::relative\n");
  write("sys/fs/cgroup/cpu.max", "many 0\n");
  EXPECT_TRUE(std::isinf(cgroup_quota_cores(root_)));
  write("sys/fs/cgroup/cpu.max", "0 100000\n");
  EXPECT_TRUE(std::isinf(cgroup_quota_cores(root_)));
  write("sys/fs/cgroup/cpu.max", "100000 0\n");
  EXPECT_TRUE(std::isinf(cgroup_quota_cores(root_)));
}

TEST(AvailableCores, IsAtLeastOne) { EXPECT_GE(available_cores(), 1); }

}  // namespace
}  // namespace moiety
