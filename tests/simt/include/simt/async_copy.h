// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simt/device.h"

namespace simt {

/// Queues a copy of `bytes` from global to shared memory for the calling thread: the first
/// `source_bytes` are read, the rest is zero. What arrives is not there before a wait asks for it.
void queue_copy(void* shared, const void* global, int bytes, int source_bytes, Place place);

/// PTX cp.async of 4, 8 or 16 bytes, of which those after `source_bytes` are filled with zeros.
template <int kBytes>
void cp_async(void* shared, const void* global, int source_bytes = kBytes,
              Place place = Place::current()) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  queue_copy(shared, global, kBytes, source_bytes, place);
}

/// PTX cp.async.commit_group: closes the group of the calling thread's copies since the last one.
void cp_async_commit();
/// Lands all but the newest `groups` committed groups of the calling thread.
void wait_for_copies(int groups);

/// PTX cp.async.wait_group N.
template <int kGroups>
void cp_async_wait() {
  static_assert(kGroups >= 0);
  wait_for_copies(kGroups);
}
/// PTX cp.async.wait_all: also what no group holds yet.
inline void cp_async_wait_all() {
  cp_async_commit();
  wait_for_copies(0);
}

}  // namespace simt
