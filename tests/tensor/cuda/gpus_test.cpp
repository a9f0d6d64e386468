// SPDX-License-Identifier: Apache-2.0
#include "tensor/cuda/gpus.h"

#include <gtest/gtest.h>

#include "tensor/device.h"

#if defined(MOIETY_SIMT_EMULATED)
#include <simt/emulator.h>
#endif

namespace moiety {
namespace {

TEST(Gpus, MachineCodeRunsOnItsMajorVersion) {
  EXPECT_TRUE(runs_on("90-real", 9, 0));
  EXPECT_TRUE(runs_on("80-real", 8, 9));
  EXPECT_FALSE(runs_on("89-real", 8, 6));
  EXPECT_FALSE(runs_on("80-real", 9, 0));
  EXPECT_FALSE(runs_on("90-real", 12, 0));
}

TEST(Gpus, PtxRunsOnAllThatIsNewer) {
  EXPECT_TRUE(runs_on("80-virtual", 12, 0));
  EXPECT_FALSE(runs_on("90-virtual", 8, 9));
  EXPECT_TRUE(runs_on("80", 8, 6));
  EXPECT_TRUE(runs_on("80", 10, 0));
  EXPECT_TRUE(runs_on("70-real 80-real 90-virtual", 10, 3));
  EXPECT_FALSE(runs_on("80-real 90-virtual", 7, 5));
}

TEST(Gpus, CodeForOneArchitectureRunsThereAlone) {
  EXPECT_TRUE(runs_on("90a", 9, 0));
  EXPECT_FALSE(runs_on("90a-virtual", 10, 0));
  EXPECT_FALSE(runs_on("100a-real", 10, 3));
}

TEST(Gpus, WordsWithoutANumberMayStandForAny) {
  EXPECT_TRUE(runs_on("native", 8, 6));
  EXPECT_TRUE(runs_on("", 9, 0));
}

TEST(Gpus, AreListedWithNameAndMemory) {
  for (const GpuInfo& gpu : list_gpus()) {
    EXPECT_NE(gpu.name, "");
    EXPECT_GT(gpu.memory_bytes, std::size_t{1} << 20);
    EXPECT_EQ(make_cuda_device(gpu.index)->index(), gpu.index);
  }
}

#if defined(MOIETY_SIMT_EMULATED)
TEST(Gpus, AutoPassesOverOnesThatAreProhibited) {
  EXPECT_EQ(make_device("auto")->name(), "cpu");
  EXPECT_NE(list_gpus().at(0).problem, "");
  simt::settings().offered = true;
  EXPECT_EQ(make_device("auto")->name(), "cuda:0");
  EXPECT_EQ(list_gpus().at(0).problem, "");
  simt::settings().offered = false;
}
#endif

}  // namespace
}  // namespace moiety
