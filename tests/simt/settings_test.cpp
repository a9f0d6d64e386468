// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <stdexcept>

#include "support.h"

namespace simt_test {
namespace {

/// Reads the settings in a process of its own, where nothing has asked for them yet.
class SettingsTest : public testing::Test {
 protected:
  SettingsTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  static void expect(const char* variable, const char* value, bool (*holds)()) {
    ASSERT_EQ(setenv(variable, value, 1), 0);
    EXPECT_EXIT(std::exit(holds() ? 0 : 1), testing::ExitedWithCode(0), "");
    unsetenv(variable);
  }
  static bool is_refused() {
    try {
      simt::settings();
    } catch (const std::invalid_argument&) {
      return true;
    }
    return false;
  }
};

TEST_F(SettingsTest, ComeFromTheEnvironment) {
  expect("MOIETY_SIMT_ORDER", "reverse",
         [] { return simt::settings().order == simt::Order::reverse; });
  expect("MOIETY_SIMT_ORDER", "random:42", [] {
    return simt::settings().order == simt::Order::random && simt::settings().seed == 42;
  });
  expect("MOIETY_SIMT_PREEMPT", "0.25", [] { return simt::settings().preempt == 0.25; });
  expect("MOIETY_SIMT_OFFERED", "1", [] { return simt::settings().offered; });
  expect("MOIETY_SIMT_MEMORY", "512", [] { return simt::settings().memory_bytes == 512u << 20; });
}

TEST_F(SettingsTest, RefuseWhatTheyDoNotKnow) {
  expect("MOIETY_SIMT_ORDER", "backwards", is_refused);
  expect("MOIETY_SIMT_ORDER", "random:x", is_refused);
  expect("MOIETY_SIMT_PREEMPT", "-1", is_refused);
  expect("MOIETY_SIMT_MEMORY", "many", is_refused);
}

}  // namespace
}  // namespace simt_test
