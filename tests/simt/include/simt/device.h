// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>

// What the device functions ask of the runtime. Kernels do not call these themselves.

namespace simt {

/// Where in a kernel something is done: the last, defaulted argument of every device function.
using Place = std::source_location;

/// The calling thread's number in its warp.
extern unsigned current_lane;

/// Computes a collective for all lanes: lanes[i] is what lane i gave to warp_collective(), for each
/// bit i of `arrived`.
using Combine = void (*)(void* const* lanes, unsigned arrived, Place place);

/// Waits for the lanes of `mask` that have not exited; the last to arrive combines for all. A lane
/// that comes with another operation, mask or place is an error.
void warp_collective(unsigned mask, const char* operation, void* payload, Combine combine,
                     Place place);
/// A warp_collective() that also orders the lanes' accesses to memory.
void sync_warp(unsigned mask, Place place);
/// Lanes of the calling warp that have not exited.
unsigned live_lanes();

/// The block's barrier. Returns how many of the threads that arrived gave a non-zero predicate, and
/// how many arrived.
struct BarrierResult {
  unsigned votes;
  unsigned threads;
};
BarrierResult block_barrier(const char* operation, bool predicate, Place place);

/// Ends the launch with this text and the thread that is to blame.
[[noreturn]] void fail(const char* what, Place place);

enum class Access : std::uint8_t { read, write, atomic };
/// Tells the checker of an access that the runtime makes on behalf of the calling thread.
void check_access(const void* memory, std::size_t bytes, Access access, Place place);
bool is_shared(const void* memory);

/// A lengthy wait for others: lets another thread run.
void yield(Place place);
/// A fence of at least the device: with an atomic after it, it publishes what the block has written
/// to blocks that make an atomic themselves.
void fence_device();

}  // namespace simt
