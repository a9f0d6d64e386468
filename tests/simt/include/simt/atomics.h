// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <type_traits>

#include "simt/device.h"

namespace simt {

enum class AtomicOperation { add, minimum, maximum, exchange, bit_and, bit_or, bit_xor };

/// *memory = operation(*memory, value); returns what was there. Lives in the runtime, so that the
/// checker sees one atomic access. Defined for the types that CUDA has.
template <class T>
T atomic_apply(AtomicOperation operation, T* memory, T value, Place place);
template <class T>
T atomic_compare_and_swap(T* memory, T expected, T desired, Place place);

template <class T, class... Choices>
concept OneOf = (std::same_as<T, Choices> || ...);
template <class T>
concept AtomicBits = OneOf<T, int, unsigned, unsigned long long>;
template <class T>
concept AtomicOrdered = OneOf<T, int, unsigned, long long, unsigned long long>;
template <class T>
concept AtomicNumber = OneOf<T, int, unsigned, unsigned long long, float, double>;
template <class T>
concept AtomicExchanged = OneOf<T, int, unsigned, unsigned long long, float>;
template <class T>
concept AtomicCompared = OneOf<T, int, unsigned, unsigned long long, unsigned short>;

/// The value is converted to the type of the memory, as CUDA's overloads do.
template <class T>
using Converted = std::type_identity_t<T>;

}  // namespace simt

template <simt::AtomicNumber T>
T atomicAdd(T* memory, simt::Converted<T> value, simt::Place place = simt::Place::current()) {
  return simt::atomic_apply(simt::AtomicOperation::add, memory, value, place);
}
template <simt::OneOf<int, unsigned> T>
T atomicSub(T* memory, simt::Converted<T> value, simt::Place place = simt::Place::current()) {
  const T negated = static_cast<T>(0u - static_cast<unsigned>(value));
  return simt::atomic_apply(simt::AtomicOperation::add, memory, negated, place);
}
template <simt::AtomicOrdered T>
T atomicMin(T* memory, simt::Converted<T> value, simt::Place place = simt::Place::current()) {
  return simt::atomic_apply(simt::AtomicOperation::minimum, memory, value, place);
}
template <simt::AtomicOrdered T>
T atomicMax(T* memory, simt::Converted<T> value, simt::Place place = simt::Place::current()) {
  return simt::atomic_apply(simt::AtomicOperation::maximum, memory, value, place);
}
template <simt::AtomicExchanged T>
T atomicExch(T* memory, simt::Converted<T> value, simt::Place place = simt::Place::current()) {
  return simt::atomic_apply(simt::AtomicOperation::exchange, memory, value, place);
}
template <simt::AtomicBits T>
T atomicAnd(T* memory, simt::Converted<T> value, simt::Place place = simt::Place::current()) {
  return simt::atomic_apply(simt::AtomicOperation::bit_and, memory, value, place);
}
template <simt::AtomicBits T>
T atomicOr(T* memory, simt::Converted<T> value, simt::Place place = simt::Place::current()) {
  return simt::atomic_apply(simt::AtomicOperation::bit_or, memory, value, place);
}
template <simt::AtomicBits T>
T atomicXor(T* memory, simt::Converted<T> value, simt::Place place = simt::Place::current()) {
  return simt::atomic_apply(simt::AtomicOperation::bit_xor, memory, value, place);
}
template <simt::AtomicCompared T>
T atomicCAS(T* memory, simt::Converted<T> expected, simt::Converted<T> desired,
            simt::Place place = simt::Place::current()) {
  return simt::atomic_compare_and_swap(memory, expected, desired, place);
}
