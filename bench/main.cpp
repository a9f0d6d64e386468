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
  moiety::bench::add_gemm(suite);
  moiety::bench::add_gather(suite);
  moiety::bench::add_segment(suite);
  moiety::bench::add_message_passing(suite);
  moiety::bench::add_optimizer(suite);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
