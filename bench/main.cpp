// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <iostream>

#include "support/table.h"

namespace moiety::bench {
namespace {

int run(int argc, char** argv) {
  const Options options = take_options(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  Suite suite(options);
  add_elementwise(suite);
  add_reduce(suite);
  add_norm(suite);
  add_random(suite);
  add_gemm(suite);
  add_gather(suite);
  add_segment(suite);
  add_message_passing(suite);
  add_optimizer(suite);
  add_attention(suite);
  add_rotary(suite);
  add_steps(suite);
  int failures = 0;
  if (options.work) {
    write_work(suite, std::cout);
  } else if (options.table) {
    TableReporter table(suite, std::cout);
    benchmark::RunSpecifiedBenchmarks(&table);
    failures = table.failures();
  } else {
    benchmark::RunSpecifiedBenchmarks();
  }
  benchmark::Shutdown();
  return failures > 0 ? 1 : 0;
}

}  // namespace
}  // namespace moiety::bench

int main(int argc, char** argv) {
  try {
    return moiety::bench::run(argc, argv);
  } catch (const moiety::Error& error) {
    std::cerr << "moiety_bench: " << error.what() << "\n";
    return dynamic_cast<const moiety::UserError*>(&error) != nullptr ? 2 : 1;
  }
}
