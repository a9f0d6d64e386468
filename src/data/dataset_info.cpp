// SPDX-License-Identifier: Apache-2.0
#include "data/dataset_info.h"

#include "tensor/error.h"

namespace moiety::data {

std::string name_of(Split split) {
  switch (split) {
    case Split::train:
      return "train";
    case Split::valid:
      return "valid";
    case Split::test:
      return "test";
  }
  throw Error("unknown split");
}

Split parse_split(const std::string& name) {
  for (const Split split : {Split::train, Split::valid, Split::test}) {
    if (name_of(split) == name) return split;
  }
  throw UserError("unknown split '" + name + "': use train, valid or test");
}

}  // namespace moiety::data
