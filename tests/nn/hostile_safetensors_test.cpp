// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "nn/checkpoint.h"
#include "support/error_text.h"
#include "support/temporary_folder.h"
#include "tensor/rng.h"

// Files of other programs have no checksums: whatever their headers say, each is refused by name or
// is exactly what it says, and takes no more memory than the file has bytes.
namespace moiety::nn {
namespace {

constexpr int kTrials = 1500;

/// A tensor of the header as text, so that anything can stand anywhere.
struct Entry {
  std::string name;
  std::string dtype;
  std::vector<std::string> shape;
  std::vector<std::string> offsets;
  std::string more;  ///< behind the last key
};

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ",") + part;
  return out;
}

std::string header_of(const std::vector<Entry>& entries) {
  std::vector<std::string> parts;
  for (const Entry& e : entries) {
    parts.push_back(e.name + ":{\"dtype\":" + e.dtype + ",\"shape\":[" + joined(e.shape) +
                    "],\"data_offsets\":[" + joined(e.offsets) + "]" + e.more + "}");
  }
  return "{" + joined(parts) + "}";
}

std::string file_of(std::uint64_t announced, const std::string& header, const std::string& data) {
  std::string out(8, '\0');
  std::memcpy(out.data(), &announced, 8);
  return out + header + data;
}

class HostileSafetensors : public ::testing::Test {
 protected:
  std::size_t below(std::size_t bound) {
    return static_cast<std::size_t>(random_below({.seed = 3, .stream = 8}, next_++, bound));
  }
  template <class T>
  T& any_of(std::vector<T>& values) {
    return values[below(values.size())];
  }
  std::string any_text(std::vector<std::string> texts) { return any_of(texts); }

  std::string number() {
    return any_text({"0",
                     "1",
                     "2",
                     "3",
                     "4",
                     "7",
                     "8",
                     "12",
                     "24",
                     "36",
                     "255",
                     "4294967296",
                     "2147483648",
                     "4611686018427387904",
                     "9223372036854775807",
                     "9223372036854775808",
                     "18446744073709551615",
                     "18446744073709551616",
                     "-1",
                     "-9223372036854775808",
                     "1e3",
                     "1.5",
                     "01",
                     "\"1\"",
                     "null",
                     "true",
                     "[]",
                     "",
                     " 4 "});
  }
  std::string nested() {
    const std::string piece = any_text({"[", "{\"a\":", "[[],", "{\"\":{"});
    std::string out;
    for (std::size_t n = std::size_t{1} << below(15); n > 0; --n) out += piece;
    return out;
  }

  /// One mistake in what the header says.
  void damage(std::vector<Entry>& entries) {
    if (entries.empty()) return;
    Entry& e = any_of(entries);
    switch (below(11)) {
      case 0:
        if (!e.shape.empty()) any_of(e.shape) = below(8) == 0 ? nested() : number();
        break;
      case 1:
        for (std::size_t n = 1 + below(12); n > 0; --n) e.shape.push_back(number());
        break;
      case 2:
        e.shape.clear();
        break;
      case 3:
        any_of(e.offsets) = number();
        break;
      case 4:
        e.offsets = any_of(entries).offsets;  // overlaps
        break;
      case 5:
        entries.push_back(e);  // twice
        break;
      case 6:
        entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(below(entries.size())));
        break;
      case 7:
        e.dtype = any_text({"\"F16\"", "\"F64\"", "\"I64\"", "\"BOOL\"", "\"U8\"", "\"F8_E4M3\"",
                            "\"f32\"", "\"\"", "7", "null", "{}", "\"I32\""});
        break;
      case 8:
        e.name =
            any_text({"\"\"", "\"__metadata__\"", "\"\\u0000\"", "\"\\ud800\"", "\"\xff\"", "\"a\"",
                      "7", "\"moiety.format\"", "\"" + std::string(70000, 'n') + "\""});
        break;
      case 9:
        e.more = any_text({",\"shape\":[1]", ",\"dtype\":\"F32\"", ",\"data_offsets\":[0,4]",
                           ",\"x\":1", ",", "}"});
        break;
      default:
        e.more = ",\"x\":" + nested();
    }
  }

  /// Loads the file or expects it to be refused by name. Returns whether it was loaded.
  bool loads(const std::string& bytes) {
    testing::write_bytes(path_, bytes);
    try {
      const Checkpoint loaded = Checkpoint::load(path_, *device_, Checkpoint::Integrity::any);
      std::uint64_t header = 0;
      std::memcpy(&header, bytes.data(), 8);
      std::size_t tensors = 0;
      for (const auto& [name, tensor] : loaded.tensors) tensors += tensor.bytes();
      EXPECT_EQ(8 + header + tensors, bytes.size());
      return true;
    } catch (const IoError& error) {
      EXPECT_TRUE(testing::says(error.what(), {path_.string()}));
      return false;
    }
  }

  std::unique_ptr<Device> device_ = make_cpu_device(1);
  testing::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "hostile.safetensors";
  std::uint64_t next_ = 0;
  const std::vector<Entry> whole_ = {{"\"w\"", "\"F32\"", {"2", "3"}, {"0", "24"}, ""},
                                     {"\"a\"", "\"I64\"", {"1"}, {"24", "32"}, ""},
                                     {"\"m\"", "\"U8\"", {"4"}, {"32", "36"}, ""},
                                     {"\"none\"", "\"F32\"", {"0", "9"}, {"36", "36"}, ""}};
  const std::string data_ = std::string(36, '\1');
};

TEST_F(HostileSafetensors, MistakesInTheHeaderAreRefusedOrMeanWhatTheySay) {
  const std::string header = header_of(whole_);
  ASSERT_TRUE(loads(file_of(header.size(), header, data_)));
  int loaded = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<Entry> entries = whole_;
    for (std::size_t n = 1 + below(3); n > 0; --n) damage(entries);
    const std::string text = header_of(entries);
    loaded += loads(file_of(text.size(), text, data_)) ? 1 : 0;
  }
  EXPECT_GT(loaded, 0);  // a tensor of the same size with another name, for example
  EXPECT_LT(loaded, kTrials / 4);
  EXPECT_LT(device_->allocator().stats().peak_in_use, 1 << 16);
}

TEST_F(HostileSafetensors, LengthsThatDoNotFitTheFileAreRefused) {
  const std::string header = header_of(whole_);
  const std::uint64_t size = header.size();
  for (const std::uint64_t announced :
       {std::uint64_t{0}, std::uint64_t{1}, size - 1, size + 1, size + 36, size + 37,
        std::uint64_t{100'000'001}, std::uint64_t{1} << 31, std::uint64_t{1} << 32,
        std::uint64_t{1} << 62, (std::uint64_t{1} << 63) - 1, std::uint64_t{1} << 63,
        ~std::uint64_t{0} - 7, ~std::uint64_t{0}}) {
    EXPECT_FALSE(loads(file_of(announced, header, data_))) << announced;
  }
  EXPECT_FALSE(loads(file_of(size, header, data_ + '\0')));
  EXPECT_FALSE(loads(file_of(size, header, data_.substr(1))));
  EXPECT_TRUE(loads(file_of(size + 3, header + "   ", data_)));
}

TEST_F(HostileSafetensors, DamagedBytesAreRefusedOrMeanWhatTheySay) {
  const std::string header = header_of(whole_);
  const std::string whole = file_of(header.size(), header, data_);
  for (int trial = 0; trial < kTrials; ++trial) {
    std::string bytes = whole;
    const std::size_t at = below(8 + header.size());
    switch (below(4)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        bytes.erase(at, 1 + below(9));
        break;
      case 2:
        bytes.insert(at, whole.substr(below(whole.size()), below(20)));
        break;
      default:
        bytes.resize(below(whole.size()));
    }
    loads(bytes);
  }
  EXPECT_LT(device_->allocator().stats().peak_in_use, 1 << 16);
}

}  // namespace
}  // namespace moiety::nn
