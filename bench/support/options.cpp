// SPDX-License-Identifier: Apache-2.0
#include "support/options.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "tensor/error.h"

namespace moiety::bench {

Options take_options(int& argc, char** argv) {
  Options options;
  options.command = "moiety_bench";
  std::vector<char*> rest;
  for (int i = 0; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (i > 0) options.command += " " + std::string(flag);
    if (i > 0 && flag == "--table") {
      options.table = true;
    } else if (i > 0 && flag == "--work") {
      options.work = true;
    } else if (i > 0 && flag == "--tiny") {
      options.tiny = true;
    } else if (i > 0 && flag == "--device") {
      check<UserError>(i + 1 < argc, "--device needs a device: cpu or cuda");
      options.device = argv[++i];
      options.command += " " + options.device;
    } else if (i > 0 && flag.starts_with("--device=")) {
      options.device = flag.substr(std::string_view("--device=").size());
    } else if (i > 0 && flag == "--attention") {
      const std::string_view library = i + 1 < argc ? argv[i + 1] : "";
      check<UserError>(library == "own" || library == "cudnn", "--attention takes own or cudnn");
      options.cudnn = library == "cudnn";
      options.command += " " + std::string(argv[++i]);
    } else {
      rest.push_back(argv[i]);
    }
  }
  check<UserError>(options.device == "cpu" || options.device == "cuda", "--device takes cpu or ",
                   "cuda, not '", options.device, "'");
  std::copy(rest.begin(), rest.end(), argv);
  argc = static_cast<int>(rest.size());
  return options;
}

}  // namespace moiety::bench
