// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "support/suite.h"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  moiety::bench::Suite suite(moiety::available_cores());
  moiety::bench::add_elementwise(suite);
  moiety::bench::add_reduce(suite);
  moiety::bench::add_norm(suite);
  moiety::bench::add_random(suite);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
