// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include "scheduler.h"

namespace simt {
namespace {

bool is_same(const Place& a, const Place& b) {
  return a.line() == b.line() && a.column() == b.column() &&
         std::strcmp(a.file_name(), b.file_name()) == 0;
}

}  // namespace

void Scheduler::collective(unsigned mask, const char* operation, void* payload, Combine combine,
                           Place place, bool orders_memory) {
  const unsigned lane = current_ % 32;
  Warp& warp = warps_[current_ / 32];
  if ((mask >> lane & 1) == 0) fail(concat(operation, ": the mask lacks the calling lane"), place);
  auto found = std::find_if(warp.pending.begin(), warp.pending.end(),
                            [mask](const Collective& other) { return (other.mask & mask) != 0; });
  if (found == warp.pending.end()) {
    warp.pending.push_back({mask, 0, operation, place, combine, orders_memory, {}});
    found = warp.pending.end() - 1;
  } else if (found->mask != mask || found->operation != operation ||
             !is_same(found->place, place)) {
    std::string what = concat("divergent warp: lanes 0x", std::hex, found->arrived, " wait in ",
                              found->operation, " at ", text_of(found->place), " with mask 0x",
                              found->mask, ", another comes to ", operation, " with mask 0x", mask);
    fail(std::move(what), place);
  }
  found->arrived |= 1u << lane;
  found->lanes[lane] = payload;
  if (complete(warp, static_cast<std::size_t>(found - warp.pending.begin()))) return;
  wait(operation, place, mask);
}

/// Ends the collective if all of its lanes that live have come. The current thread combines for
/// all: it is the last to come, or its exit has left nobody to wait for.
bool Scheduler::complete(Warp& warp, std::size_t index) {
  const Collective done = warp.pending[index];
  if (done.arrived != (done.mask & ~warp.exited)) return false;
  warp.pending.erase(warp.pending.begin() + static_cast<std::ptrdiff_t>(index));
  if (done.combine != nullptr) done.combine(done.lanes.data(), done.arrived, done.place);
  const unsigned first = current_ / 32 * 32;
  if constexpr (kChecks) {
    if (done.orders_memory) checker_.sync_lanes(current_ / 32, done.arrived);
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((done.arrived >> lane & 1) != 0 && first + lane != current_) wake(first + lane);
  }
  return true;
}

BarrierResult Scheduler::block_barrier(const char* operation, bool predicate, Place place) {
  Barrier& barrier = barriers_[0];
  if (barrier.arrived != 0 && (barrier.operation != operation || !is_same(barrier.place, place))) {
    std::string what =
        concat("divergent block: ", name_of(barrier.waiting.front(), serial_), " waits in ",
               barrier.operation, " at ", text_of(barrier.place), ", another comes to ", operation);
    fail(std::move(what), place);
  }
  barrier.operation = operation;
  barrier.place = place;
  barrier.votes += predicate;
  barrier.waiting.push_back(current_);
  if (++barrier.arrived == live_) {
    release(barrier);
  } else {
    wait(operation, place, 0);
  }
  return barrier.result;
}

void Scheduler::named_barrier(int id, int threads, bool waits, Place place) {
  const char* const operation = waits ? "barrier_sync" : "barrier_arrive";
  if (id < 1 || id > 15) fail(concat(operation, ": there is no barrier ", id), place);
  if (threads <= 0 || threads % 32 != 0 || static_cast<std::size_t>(threads) > threads_.size()) {
    fail(concat(operation, ": ", threads, " threads are no warps of this block"), place);
  }
  Barrier& barrier = barriers_[static_cast<std::size_t>(id)];
  if (barrier.arrived != 0 && barrier.expected != threads) {
    fail(concat(operation, ": barrier ", id, " is in use for ", barrier.expected, " threads, not ",
                threads),
         place);
  }
  barrier.expected = threads;
  barrier.came |= 1u << current_ / 32;
  if constexpr (kChecks) checker_.arrive(current_);
  if (waits) barrier.waiting.push_back(current_);
  if (++barrier.arrived == static_cast<unsigned>(threads)) {
    release(barrier);
  } else if (waits) {
    wait(operation, place, 0);
  }
}

void Scheduler::release(Barrier& barrier) {
  if constexpr (kChecks) {
    if (&barrier == &barriers_[0]) {
      checker_.sync_block();
    } else {
      WarpSet waited = 0;
      for (const unsigned thread : barrier.waiting) waited |= 1u << thread / 32;
      checker_.sync_warps(barrier.came, waited);
    }
  }
  for (const unsigned thread : barrier.waiting) {
    if (thread != current_) wake(thread);
  }
  barrier.result = {barrier.votes, barrier.arrived};
  barrier.waiting.clear();
  barrier.arrived = 0;
  barrier.votes = 0;
  barrier.came = 0;
}

}  // namespace simt
