// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tensor/error.h"

namespace moiety::apps {

/// A signal ended the work after everything was saved; main() exits with 128 + signal, as shells
/// expect.
class Interrupted : public Error {
 public:
  Interrupted(int signal, const std::string& message) : Error(message), signal_(signal) {}
  int signal() const { return signal_; }

 private:
  int signal_;
};

}  // namespace moiety::apps
