// SPDX-License-Identifier: Apache-2.0
// conformance_tests: compares what the instructions give with the record of the emulator.
// conformance_tests --record FILE, in a build with the emulator: writes the record.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "cases.h"
#include "tensor/device.h"

namespace simt_test {
namespace {

std::map<std::string, std::vector<std::uint32_t>> read_record(const std::string& path) {
  std::map<std::string, std::vector<std::uint32_t>> record;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name >> std::hex;
    auto& values = record[name];
    for (std::uint32_t word = 0; words >> word;) values.push_back(word);
  }
  return record;
}

bool agree(std::uint32_t got, std::uint32_t expected, double tolerance) {
  if (tolerance == 0) return got == expected;
  return std::fabs(std::bit_cast<float>(got) - std::bit_cast<float>(expected)) <= tolerance;
}

TEST(Conformance, GivesWhatTheEmulatorRecorded) {
  if (moiety::cuda_status().count == 0) {
    GTEST_SKIP() << "no GPU to compare: " << moiety::cuda_status().reason;
  }
  auto record = read_record(MOIETY_GOLDEN);
  for (const Case& c : run_cases()) {
    ASSERT_TRUE(record.contains(c.name)) << c.name << " is not in " << MOIETY_GOLDEN;
    const std::vector<std::uint32_t> expected = record[c.name];
    record.erase(c.name);
    ASSERT_EQ(c.words.size(), expected.size()) << c.name;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (agree(c.words[i], expected[i], c.tolerance)) continue;
      ADD_FAILURE() << c.name << ", word " << i << ": " << std::hex << c.words[i] << ", expected "
                    << expected[i];
      break;  // one word of a case says enough
    }
  }
  for (const auto& [name, words] : record) ADD_FAILURE() << name << " was not run";
}

int write_record(const std::string& path) {
#if defined(MOIETY_SIMT_EMULATED)
  std::ofstream file(path);
  for (const Case& c : run_cases()) {
    file << c.name << std::hex;
    for (const std::uint32_t word : c.words) file << " " << word;
    file << "\n";
  }
  return file.good() ? 0 : 1;
#else
  std::cerr << path << " is for the emulator to write: build with the preset simt\n";
  return 2;
#endif
}

}  // namespace
}  // namespace simt_test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc == 3 && std::string(argv[1]) == "--record") return simt_test::write_record(argv[2]);
  return RUN_ALL_TESTS();
}
