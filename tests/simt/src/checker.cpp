// SPDX-License-Identifier: Apache-2.0
#include "checker.h"

#include <algorithm>
#include <bit>

#include "scheduler.h"

namespace simt {
namespace {

constexpr std::size_t kWordBytes = 4;
constexpr unsigned kLargestRecorded = (1u << 12) - 1;
constexpr unsigned kLargestClock = 0xffff;

const char* name_of(Access access) {
  switch (access) {
    case Access::read:
      return "read";
    case Access::write:
      return "write";
    case Access::atomic:
      return "atomic";
  }
  return "access";
}

/// The bytes of word `word` that [begin, end) covers, a bit each.
unsigned bytes_in_word(std::size_t word, std::size_t begin, std::size_t end) {
  const std::size_t first = std::max(begin, word * kWordBytes) % kWordBytes;
  const std::size_t last = std::min(end - 1, word * kWordBytes + kWordBytes - 1) % kWordBytes;
  return (0xfu << first) & (0xfu >> (kWordBytes - 1 - last));
}

template <class Clock>
void advance(Clock& clock) {
  if (clock < kLargestClock) ++clock;
}

}  // namespace

constinit thread_local bool kernel_code_runs = false;

void Checker::begin_launch(std::uint32_t first_serial, std::uint64_t blocks) {
  if (words_ == nullptr) {
    words_ = static_cast<Word*>(reserve_pages(Memory::kBytes / kWordBytes * sizeof(Word), true));
  }
  first_serial_ = first_serial;
  published_.assign(blocks, false);
}

void Checker::begin_block(std::uint32_t serial, unsigned threads) {
  serial_ = serial;
  epoch_ = 0;
  lane_clocks_.assign(threads, {});
  arrivals_.assign(threads, 0);
  warp_clocks_ = {};
  fenced_ = false;
  acquired_ = false;
}

std::string Checker::access(unsigned thread, const void* data, std::size_t bytes, Access kind,
                            Site site) {
  std::string fault = fault_of_content(data, bytes, kind);
  if (!fault.empty()) return fault;
  if (kind != Access::read) std::fill_n(memory().content_of(data), bytes, Content::defined);
  if (kind == Access::atomic) {
    acquired_ = true;
    if (fenced_) published_[serial_ - first_serial_] = true;
  }
  Record now;
  now.serial = serial_;
  now.site = site;
  now.epoch = epoch_;
  now.lane_clock = std::min<unsigned>(lane_clocks_[thread][thread % 32], kLargestRecorded);
  now.warp_clock = std::min<unsigned>(arrivals_[thread], kLargestRecorded);
  now.thread = thread;
  now.access = static_cast<unsigned>(kind);
  const bool shared = memory().is_shared(data);
  const std::size_t begin = memory().offset_of(data);
  const std::size_t end = begin + bytes;
  for (std::size_t word = begin / kWordBytes; word * kWordBytes < end; ++word) {
    now.bytes = bytes_in_word(word, begin, end);
    if (const Record* other = conflict_of(words_[word], now, shared)) {
      const auto both = static_cast<unsigned>(now.bytes & other->bytes);
      const auto* byte =
          static_cast<const std::byte*>(data) - begin + word * kWordBytes + std::countr_zero(both);
      return "race on " + memory().describe(byte) + ": no synchronisation after the " +
             name_of(*other) + " before the " + simt::name_of(kind);
    }
    remember(words_[word], now);
  }
  return "";
}

std::string Checker::fault_of_content(const void* data, std::size_t bytes, Access kind) const {
  const Content* const content = memory().content_of(data);
  for (std::size_t i = 0; i < bytes; ++i) {
    if (content[i] == Content::defined) [[likely]]
      continue;
    const auto* byte = static_cast<const std::byte*>(data) + i;
    const bool outside = content[i] == Content::outside && !memory().is_undefined_only(byte);
    if (!outside && kind == Access::write) continue;
    return concat(outside ? "out of bounds: " : "uninitialised: ", simt::name_of(kind), " of ",
                  bytes, " bytes, from ", memory().describe(byte));
  }
  return "";
}

void Checker::make_undefined(void* data, std::size_t bytes) {
  std::fill_n(memory().content_of(data), bytes, Content::undefined);
}

bool Checker::is_ordered(const Record& earlier, const Record& now, bool shared) const {
  if (earlier.serial < first_serial_) return true;
  if (earlier.serial != now.serial) {
    return shared || (acquired_ && published_[earlier.serial - first_serial_]);
  }
  if (earlier.thread == now.thread || earlier.epoch < now.epoch) return true;
  const unsigned warp = earlier.thread / 32;
  if (warp == now.thread / 32 &&
      earlier.lane_clock < lane_clocks_[now.thread][earlier.thread % 32]) {
    return true;
  }
  return earlier.warp_clock < warp_clocks_[now.thread / 32][warp];
}

const Checker::Record* Checker::conflict_of(const Word& word, const Record& now,
                                            bool shared) const {
  constexpr auto kRead = static_cast<unsigned>(Access::read);
  constexpr auto kAtomic = static_cast<unsigned>(Access::atomic);
  for (const Record& write : word.writes) {
    const bool both_atomic = write.access == kAtomic && now.access == kAtomic;
    if ((write.bytes & now.bytes) != 0 && !both_atomic && !is_ordered(write, now, shared)) {
      return &write;
    }
  }
  if (now.access == kRead) return nullptr;
  for (const Record& read : word.reads) {
    if ((read.bytes & now.bytes) != 0 && !is_ordered(read, now, shared)) return &read;
  }
  return nullptr;
}

void Checker::remember(Word& word, const Record& now) const {
  auto& records = now.access == static_cast<unsigned>(Access::read) ? word.reads : word.writes;
  // A write stands for those that it covers, as they are ordered before it; atomics and reads of
  // several threads are not.
  const bool stands_for_all = now.access == static_cast<unsigned>(Access::write);
  for (Record& record : records) {
    const bool same_thread = record.serial == now.serial && record.thread == now.thread;
    const bool covered = (record.bytes & ~now.bytes) == 0;
    if (record.serial < first_serial_ || (covered && (same_thread || stands_for_all))) {
      record = now;
      return;
    }
  }
  records[1] = records[0];
  records[0] = now;
}

std::string Checker::name_of(const Record& record) const {
  return concat(simt::name_of(static_cast<Access>(record.access)), " by ",
                scheduler().name_of(record.thread, record.serial), " at ", record.site.text());
}

void Checker::sync_block() {
  ++epoch_;
  std::fill(lane_clocks_.begin(), lane_clocks_.end(), Clocks{});
  std::fill(arrivals_.begin(), arrivals_.end(), Clock{0});
  warp_clocks_ = {};
}

void Checker::sync_lanes(unsigned warp, unsigned lanes) {
  Clocks joined{};
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    Clocks& clocks = lane_clocks_[warp * 32 + lane];
    advance(clocks[lane]);
    for (unsigned i = 0; i < 32; ++i) joined[i] = std::max(joined[i], clocks[i]);
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (lanes >> lane & 1) lane_clocks_[warp * 32 + lane] = joined;
  }
}

void Checker::arrive(unsigned thread) { advance(arrivals_[thread]); }

void Checker::sync_warps(WarpSet came, WarpSet waited) {
  Clocks joined{};
  for (unsigned warp = 0; warp < 32; ++warp) {
    if ((came >> warp & 1) == 0) continue;
    for (unsigned i = 0; i < 32; ++i) joined[i] = std::max(joined[i], warp_clocks_[warp][i]);
    joined[warp] = std::max(joined[warp], arrivals_[warp * 32]);
  }
  for (unsigned warp = 0; warp < 32; ++warp) {
    if ((waited >> warp & 1) == 0) continue;
    for (unsigned i = 0; i < 32; ++i) {
      warp_clocks_[warp][i] = std::max(warp_clocks_[warp][i], joined[i]);
    }
  }
}

void Checker::fence() { fenced_ = true; }

}  // namespace simt
