// SPDX-License-Identifier: Apache-2.0
#include "cases.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstring>

#include "device_array.h"
#include "element_kernels.h"
#include "kernels/kernels.h"
#include "tensor/dtype.h"

namespace simt_test {
namespace {

using Words = std::vector<std::uint32_t>;

/// The bits of numbers: 64-bit ones take two words, shorter ones share none.
template <class T>
Words words_of(const std::vector<T>& values) {
  Words words;
  for (const T& value : values) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    words.push_back(static_cast<std::uint32_t>(bits));
    if constexpr (sizeof(T) == 8) words.push_back(static_cast<std::uint32_t>(bits >> 32));
  }
  return words;
}

/// Too many words to record: two that depend on all (FNV-1a).
template <class T>
Words digest_of(const std::vector<T>& values) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::uint32_t word : words_of(values)) hash = (hash ^ word) * 0x100000001b3u;
  return {static_cast<std::uint32_t>(hash), static_cast<std::uint32_t>(hash >> 32)};
}

/// Reproducible bits (Knuth's multiplicative hash, twice).
std::uint32_t draw(std::size_t i) {
  auto bits = static_cast<std::uint32_t>(i + 1) * 2654435761u;
  bits ^= bits >> 15;
  return bits * 2246822519u;
}

void expect_success(cudaError_t status, const std::string& name) {
  EXPECT_EQ(status, cudaSuccess) << name << ": " << cudaGetErrorString(status);
}

template <class T>
void add_shuffles(std::vector<Case>& cases, const std::string& type) {
  std::vector<T> values;
  for (int lane = 0; lane < 32; ++lane) values.push_back(static_cast<T>(lane + 100));
  const DeviceArray<T> in(values);
  const DeviceArray<T> out(32);
  const std::vector<std::pair<Shuffle, std::string>> kinds = {{Shuffle::index, "index"},
                                                              {Shuffle::up, "up"},
                                                              {Shuffle::down, "down"},
                                                              {Shuffle::xor_lanes, "xor"}};
  for (const auto& [kind, kind_name] : kinds) {
    for (const int width : {8, 32}) {
      for (const int argument : {1, 5}) {
        std::vector<int> asked(32, argument);
        if (kind == Shuffle::index) {
          for (int lane = 0; lane < 32; ++lane) {
            asked[static_cast<std::size_t>(lane)] = lane * (argument + 6) % 32;
          }
        }
        const DeviceArray<int> arguments(asked);
        const std::string name = "shuffle/" + type + "/" + kind_name + "/width" +
                                 std::to_string(width) + "/" + std::to_string(argument);
        expect_success(shuffle(kind, in.data(), arguments.data(), out.data(), width), name);
        cases.push_back({name, words_of(out.get())});
      }
    }
  }
}

void add_votes(std::vector<Case>& cases) {
  std::vector<unsigned> values;
  for (unsigned lane = 0; lane < 32; ++lane) values.push_back(lane * 2654435761u | 4u);
  const DeviceArray<unsigned> in(values);
  const DeviceArray<Votes> out(32);
  for (const unsigned mask : {0xffffffffu, 0x0000ffffu, 0x80000001u, 0x00f0f000u}) {
    Case c{"vote/" + std::to_string(mask), {}};
    expect_success(vote(mask, in.data(), out.data()), c.name);
    const std::vector<Votes> votes = out.get();
    for (std::size_t lane = 0; lane < 32; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      const Votes& v = votes[lane];
      const auto signed_add = static_cast<std::uint32_t>(v.signed_add);
      const auto signed_smallest = static_cast<std::uint32_t>(v.signed_smallest);
      const Words all = {v.ballot,  v.any != 0, v.all != 0, v.add,      v.smallest,
                         v.largest, v.bits_and, v.bits_or,  signed_add, signed_smallest};
      c.words.insert(c.words.end(), all.begin(), all.end());
    }
    cases.push_back(c);
  }
}

/// The bits of a float in a format that holds it exactly.
std::uint32_t bits_of(Product kind, float value) {
  if (kind == Product::bf16) return moiety::to_bfloat16(value).bits;
  if (kind == Product::f16) return moiety::to_float16(value).bits;
  return std::bit_cast<std::uint32_t>(value);
}

/// Small integers, of which every sum is exact, or sixteenths, whose sums with large ones round.
void add_products(std::vector<Case>& cases) {
  const std::vector<std::pair<Product, std::string>> kinds = {
      {Product::bf16, "bf16"}, {Product::f16, "f16"}, {Product::tf32, "tf32"}};
  for (const auto& [kind, kind_name] : kinds) {
    for (const bool rounds : {false, true}) {
      const std::size_t depth = kind == Product::tf32 ? 8 : 16;
      const auto value = [&](std::size_t i) {
        const float integer = static_cast<float>(draw(i) >> 16 & 15) - 8.0f;
        return rounds ? integer + 0.0625f : integer;
      };
      Words a;
      Words b;
      std::vector<float> d;
      for (std::size_t i = 0; i < 16 * depth; ++i) a.push_back(bits_of(kind, value(i)));
      for (std::size_t i = 0; i < depth * 8; ++i) b.push_back(bits_of(kind, value(1000 + i)));
      for (std::size_t i = 0; i < 128; ++i) {
        d.push_back(value(2000 + i) * (rounds ? 12345.678f : 1.0f));
      }
      const DeviceArray<std::uint32_t> left(a);
      const DeviceArray<std::uint32_t> right(b);
      const DeviceArray<float> sums(d);
      const std::string name = "mma/" + kind_name + (rounds ? "/rounded" : "/exact");
      expect_success(multiply(kind, left.data(), right.data(), sums.data()), name);
      cases.push_back({name, words_of(sums.get()), rounds ? 0.0625 : 0.0});
    }
  }
}

void add_moves(std::vector<Case>& cases) {
  std::vector<std::uint16_t> halves;
  for (std::size_t i = 0; i < 32 * 8; ++i) halves.push_back(static_cast<std::uint16_t>(1000 + i));
  const DeviceArray<std::uint16_t> in(halves);
  for (const int matrices : {1, 2, 4}) {
    for (const bool transposed : {false, true}) {
      const DeviceArray<std::uint32_t> out(32 * static_cast<std::size_t>(matrices));
      const std::string name =
          "ldmatrix/x" + std::to_string(matrices) + (transposed ? "/transposed" : "");
      expect_success(load_matrices(matrices, transposed, in.data(), out.data()), name);
      cases.push_back({name, out.get()});
    }
  }
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < 2 * 32 * 16; ++i) bytes.push_back(static_cast<std::uint8_t>(i * 7));
  const DeviceArray<std::uint8_t> source(bytes);
  for (const int size : {4, 8, 16}) {
    for (const int given : {0, size / 2, size}) {
      const DeviceArray<std::uint8_t> out(64 * static_cast<std::size_t>(size));
      const std::string name = "cp_async/" + std::to_string(given) + "_of_" + std::to_string(size);
      expect_success(copy_async(size, given, source.data(), nullptr, out.data()), name);
      cases.push_back({name, digest_of(out.get())});
    }
  }
}

template <class T>
void add_atomics(std::vector<Case>& cases, const std::string& type) {
  const std::vector<std::pair<Atomic, std::string>> kinds = {
      {Atomic::add, "add"},     {Atomic::subtract, "sub"},  {Atomic::smallest, "min"},
      {Atomic::largest, "max"}, {Atomic::exchange, "exch"}, {Atomic::bits_and, "and"},
      {Atomic::bits_or, "or"},  {Atomic::bits_xor, "xor"},  {Atomic::cas, "cas"}};
  const bool integer = std::integral<T>;
  const bool has_bits = integer && !std::same_as<T, long long>;
  for (const auto& [kind, kind_name] : kinds) {
    const bool of_bits = kind >= Atomic::bits_and;
    if ((of_bits && !has_bits) || (kind == Atomic::add && std::same_as<T, long long>)) continue;
    if (kind == Atomic::subtract && !(integer && sizeof(T) == 4)) continue;
    if ((kind == Atomic::smallest || kind == Atomic::largest) && !integer) continue;
    if (kind == Atomic::exchange && (std::same_as<T, double> || std::same_as<T, long long>)) {
      continue;
    }
    Case c{"atomic/" + type + "/" + kind_name, {}};
    const auto apply = [&](const std::vector<T>& values, T start, bool keep_old) {
      const DeviceArray<T> in(values);
      const DeviceArray<T> target(std::vector<T>{start});
      const DeviceArray<T> old(values.size());
      expect_success(
          apply_atomic(kind, static_cast<int>(values.size()), in.data(), target.data(), old.data()),
          c.name);
      std::vector<T> got = target.get();
      if (keep_old) got.push_back(old.get()[0]);
      const Words words = words_of(got);
      c.words.insert(c.words.end(), words.begin(), words.end());
    };
    for (const int start : {0, 6}) apply({T{5}}, static_cast<T>(start), true);
    // Of many threads only what does not depend on their order.
    if (kind != Atomic::exchange && kind != Atomic::cas) {
      std::vector<T> values;
      for (int i = 0; i < 64; ++i) values.push_back(static_cast<T>(i * 5 % 64 + 1));
      apply(values, T{63}, false);
    }
    cases.push_back(c);
  }
}

/// Floats of all sizes, with ties, infinities and what rounds to zero; no NaN, whose bits are free.
std::vector<float> floats_to_round(std::size_t count) {
  std::vector<float> values;
  for (std::size_t i = 0; values.size() < count; ++i) {
    std::uint32_t bits = draw(i);
    if (i % 4 == 0) bits = (bits & 0xffff0000u) | 0x8000u;      // a tie of bf16
    if (i % 4 == 1) bits = (bits & 0xffffe000u) | 0x1000u;      // a tie of f16 and of tf32
    if (i % 3 != 0) bits = (bits & 0x80ffffffu) | 0x3f000000u;  // near 1
    const auto value = std::bit_cast<float>(bits);
    if (value == value) values.push_back(value);
  }
  values[5] = INFINITY;
  values[6] = -INFINITY;
  return values;
}

void add_conversions(std::vector<Case>& cases) {
  const std::vector<float> few = floats_to_round(32);
  const DeviceArray<float> lane_values(few);
  const DeviceArray<std::uint32_t> tf32(32);
  expect_success(round_to_tf32(lane_values.data(), tf32.data()), "to_tf32");
  Words rounded = tf32.get();
  for (std::uint32_t& bits : rounded) bits &= 0xffffe000u;  // a product does not read the others
  cases.push_back({"to_tf32", rounded});

  // Down to what is 0, and up to 1, which attention's weights are at most.
  std::vector<float> exponents = {0, -INFINITY, -126, -127, -140, -200};
  while (exponents.size() < 32) {
    exponents.push_back(-0.37f * static_cast<float>(exponents.size()));
  }
  const DeviceArray<float> powers_in(exponents);
  const DeviceArray<float> powers(32);
  expect_success(approximate_exp2(powers_in.data(), powers.data()), "exp2_approx");
  cases.push_back({"exp2_approx", words_of(powers.get()), 0x1p-22});

  constexpr std::size_t kPatterns = 65536;
  const DeviceArray<float> from_bf16(kPatterns);
  const DeviceArray<float> from_f16(kPatterns);
  expect_success(widen_all_halves(from_bf16.data(), from_f16.data()), "widen");
  for (const auto& [name, array] :
       {std::pair{"widen/bf16", &from_bf16}, {"widen/f16", &from_f16}}) {
    std::vector<float> values = array->get();
    std::replace_if(
        values.begin(), values.end(), [](float x) { return x != x; }, 0.0f);
    cases.push_back({name, digest_of(values)});
  }
  constexpr std::size_t kCount = 16384;
  const DeviceArray<float> in(floats_to_round(kCount));
  const DeviceArray<std::uint16_t> bf16(kCount);
  const DeviceArray<std::uint16_t> f16(kCount);
  expect_success(narrow_to_halves(kCount, in.data(), bf16.data(), f16.data()), "narrow");
  cases.push_back({"narrow/bf16", digest_of(bf16.get())});
  cases.push_back({"narrow/f16", digest_of(f16.get())});
}

}  // namespace

std::vector<Case> run_cases() {
  std::vector<Case> cases;
  add_shuffles<std::uint8_t>(cases, "u8");
  add_shuffles<std::uint16_t>(cases, "u16");
  add_shuffles<float>(cases, "f32");
  add_shuffles<double>(cases, "f64");
  add_votes(cases);
  add_products(cases);
  add_moves(cases);
  add_atomics<int>(cases, "i32");
  add_atomics<unsigned>(cases, "u32");
  add_atomics<long long>(cases, "i64");
  add_atomics<unsigned long long>(cases, "u64");
  add_atomics<float>(cases, "f32");
  add_atomics<double>(cases, "f64");
  add_conversions(cases);
  return cases;
}

}  // namespace simt_test
