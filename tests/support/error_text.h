// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "tensor/error.h"

namespace moiety::testing {

/// What the E says that f() throws; "nothing was thrown" when it throws nothing. Another exception
/// passes through and fails the test.
template <class E = Error, class F>
std::string error_text(const F& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// EXPECT_TRUE(says(error, {"model.h5", "row 3"})): whether the text contains all the parts.
inline ::testing::AssertionResult says(const std::string& text,
                                       std::initializer_list<std::string> parts) {
  for (const std::string& part : parts) {
    if (text.find(part) == std::string::npos) {
      return ::testing::AssertionFailure() << '"' << text << "\" does not say \"" << part << '"';
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace moiety::testing
