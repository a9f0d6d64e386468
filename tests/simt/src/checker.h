// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "memory.h"
#include "simt/device.h"
#include "site.h"

namespace simt {

/// Whether the host thread runs a kernel's own code now, whose accesses are to be checked.
extern constinit thread_local bool kernel_code_runs;

/// The warps that take part in a named barrier, a bit each.
using WarpSet = std::uint32_t;

/// Finds accesses out of bounds, reads of undefined memory, and races: accesses of two threads to
/// one byte, not both reads or both atomic, with no synchronisation between them. It keeps the last
/// accesses to each word, and for each thread what it knows of the others' progress:
/// - the number of __syncthreads so far, the same for all threads of the block;
/// - since the last one, a vector clock over the lanes of its warp, moved on by __syncwarp;
/// - and one over the warps of the block, moved on by named barriers, in which whole warps take
///   part.
class Checker {
 public:
  /// Blocks of this launch have the serial numbers from `first_serial` on.
  void begin_launch(std::uint32_t first_serial, std::uint64_t blocks);
  void begin_block(std::uint32_t serial, unsigned threads);

  /// An access by the thread `thread` of the running block. Returns what is wrong with it, or "".
  std::string access(unsigned thread, const void* data, std::size_t bytes, Access kind, Site site);
  /// From here on the bytes are undefined: a copy to them is under way.
  void make_undefined(void* data, std::size_t bytes);

  void sync_block();
  void sync_lanes(unsigned warp, unsigned lanes);
  /// The thread has come to a named barrier.
  void arrive(unsigned thread);
  /// The warps `waited` go on; they know now what the warps `came` did before they came.
  void sync_warps(WarpSet came, WarpSet waited);
  void fence();

 private:
  /// One access: 16 bytes, because four are kept for each word.
  struct Record {
    std::uint32_t serial = 0;
    Site site;
    std::uint64_t epoch : 24 = 0;       // __syncthreads before it
    std::uint64_t lane_clock : 12 = 0;  // the thread's own, saturating: errs towards "ordered"
    std::uint64_t warp_clock : 12 = 0;
    std::uint64_t thread : 10 = 0;
    std::uint64_t access : 2 = 0;
    std::uint64_t bytes : 4 = 0;  // of the word
  };
  static_assert(sizeof(Record) == 16);
  struct Word {
    std::array<Record, 2> writes;
    std::array<Record, 2> reads;
  };
  using Clock = std::uint16_t;
  using Clocks = std::array<Clock, 32>;

  std::string fault_of_content(const void* data, std::size_t bytes, Access access) const;
  bool is_ordered(const Record& earlier, const Record& now, bool shared) const;
  const Record* conflict_of(const Word& word, const Record& now, bool shared) const;
  void remember(Word& word, const Record& now) const;
  std::string name_of(const Record& record) const;

  Word* words_ = nullptr;
  std::uint32_t first_serial_ = 0;
  std::uint32_t serial_ = 0;
  std::uint32_t epoch_ = 0;
  std::vector<Clocks> lane_clocks_;       // [thread][lane]
  std::vector<Clock> arrivals_;           // [thread]: named barriers that it has come to
  std::array<Clocks, 32> warp_clocks_{};  // [warp][warp]
  std::vector<bool> published_;           // [block of the launch]: an atomic after a fence
  bool fenced_ = false;
  bool acquired_ = false;  // the running block has made an atomic
};

}  // namespace simt
