// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>

#include "simt/device.h"

namespace simt {

template <class T>
concept Shuffled = std::is_trivially_copyable_v<T> &&
    (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);

/// Returns lane `source`'s value. A source outside the mask, or one that has exited, is an error.
template <Shuffled T>
T shuffle(unsigned mask, T value, unsigned source, const char* operation, Place place) {
  struct Lane {
    T value, received;
    unsigned source;
  };
  Lane lane{value, value, source};
  const Combine combine = [](void* const* lanes, unsigned arrived, Place where) {
    for (unsigned i = 0; i < 32; ++i) {
      if ((arrived >> i & 1) == 0) continue;
      Lane& self = *static_cast<Lane*>(lanes[i]);
      if ((arrived >> self.source & 1) == 0) {
        fail("a shuffle reads from a lane that takes no part", where);
      }
      self.received = static_cast<const Lane*>(lanes[self.source])->value;
    }
  };
  warp_collective(mask, operation, &lane, combine, place);
  return lane.received;
}

/// Joins the values of all lanes, in the order of lanes.
template <class Operation, class T>
T reduce(unsigned mask, T value, const char* operation, Place place) {
  const Combine combine = [](void* const* lanes, unsigned arrived, Place) {
    const int first = __builtin_ctz(arrived);
    T total = *static_cast<const T*>(lanes[first]);
    for (int i = first + 1; i < 32; ++i) {
      if (arrived >> i & 1) total = Operation{}(total, *static_cast<const T*>(lanes[i]));
    }
    for (int i = first; i < 32; ++i) {
      if (arrived >> i & 1) *static_cast<T*>(lanes[i]) = total;
    }
  };
  warp_collective(mask, operation, &value, combine, place);
  return value;
}

struct Smaller {
  template <class T>
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Larger {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

template <class T>
concept Integer32 = std::same_as<T, int> || std::same_as<T, unsigned>;

/// First lane of the calling lane's group of `width` lanes.
inline unsigned group_begin(int width) {
  return current_lane & ~(static_cast<unsigned>(width) - 1);
}

}  // namespace simt

template <simt::Shuffled T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32,
              simt::Place place = simt::Place::current()) {
  const unsigned in_group = static_cast<unsigned>(source) & (static_cast<unsigned>(width) - 1);
  return simt::shuffle(mask, value, simt::group_begin(width) + in_group, "__shfl_sync", place);
}

// The following three keep a lane's own value where the source would lie outside its group (for
// xor: in a later group).
template <simt::Shuffled T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                 simt::Place place = simt::Place::current()) {
  const unsigned lane = simt::current_lane;
  const unsigned source = lane - delta;
  const bool inside = delta <= lane && source >= simt::group_begin(width);
  return simt::shuffle(mask, value, inside ? source : lane, "__shfl_up_sync", place);
}

template <simt::Shuffled T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                   simt::Place place = simt::Place::current()) {
  const unsigned lane = simt::current_lane;
  const unsigned last = simt::group_begin(width) + static_cast<unsigned>(width) - 1;
  const bool inside = delta <= last - lane;
  return simt::shuffle(mask, value, inside ? lane + delta : lane, "__shfl_down_sync", place);
}

template <simt::Shuffled T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32,
                  simt::Place place = simt::Place::current()) {
  const unsigned lane = simt::current_lane;
  const unsigned last = simt::group_begin(width) + static_cast<unsigned>(width) - 1;
  const unsigned source = lane ^ static_cast<unsigned>(lane_mask);
  return simt::shuffle(mask, value, source <= last ? source : lane, "__shfl_xor_sync", place);
}

inline unsigned __ballot_sync(unsigned mask, int predicate,
                              simt::Place place = simt::Place::current()) {
  const unsigned vote = predicate != 0 ? 1u << simt::current_lane : 0u;
  return simt::reduce<std::bit_or<>>(mask, vote, "__ballot_sync", place);
}
inline int __any_sync(unsigned mask, int predicate, simt::Place place = simt::Place::current()) {
  return simt::reduce<std::logical_or<>>(mask, predicate != 0, "__any_sync", place);
}
inline int __all_sync(unsigned mask, int predicate, simt::Place place = simt::Place::current()) {
  return simt::reduce<std::logical_and<>>(mask, predicate != 0, "__all_sync", place);
}

inline unsigned __reduce_add_sync(unsigned mask, unsigned value,
                                  simt::Place place = simt::Place::current()) {
  return simt::reduce<std::plus<>>(mask, value, "__reduce_add_sync", place);
}
inline int __reduce_add_sync(unsigned mask, int value, simt::Place place = simt::Place::current()) {
  return static_cast<int>(__reduce_add_sync(mask, static_cast<unsigned>(value), place));
}
template <simt::Integer32 T>
T __reduce_min_sync(unsigned mask, T value, simt::Place place = simt::Place::current()) {
  return simt::reduce<simt::Smaller>(mask, value, "__reduce_min_sync", place);
}
template <simt::Integer32 T>
T __reduce_max_sync(unsigned mask, T value, simt::Place place = simt::Place::current()) {
  return simt::reduce<simt::Larger>(mask, value, "__reduce_max_sync", place);
}
inline unsigned __reduce_and_sync(unsigned mask, unsigned value,
                                  simt::Place place = simt::Place::current()) {
  return simt::reduce<std::bit_and<>>(mask, value, "__reduce_and_sync", place);
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned value,
                                 simt::Place place = simt::Place::current()) {
  return simt::reduce<std::bit_or<>>(mask, value, "__reduce_or_sync", place);
}

inline unsigned __activemask() { return simt::live_lanes(); }
