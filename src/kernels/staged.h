// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "kernels/cpu_halves.h"
#include "tensor/storage.h"
#include "tensor/stream.h"
#include "tensor/view.h"

// Dispatch of operations whose CPU bodies know f32 and f64 alone: operands in bf16 and f16 pass
// through copies in f32. What is staged is in cache when a step runs in parts, and a body of f32
// loops is often faster on it than loops that convert.
namespace moiety::kernels {

/// Operands that an operation reads or writes. T is a TensorView, or a struct of them for
/// which there is an overload of views_of.
template <class T, bool kReads>
struct Operand {
  const T& value;
};
template <class T>
Operand<T, true> reads(const T& value) {
  return {value};
}
template <class T>
Operand<T, false> writes(const T& value) {
  return {value};
}

/// The views of an operand that may be floating.
inline std::array<TensorView*, 1> views_of(TensorView& view) { return {&view}; }

/// A contiguous f32 copy of a bf16 or f16 view, whose elements are those of `from` or unspecified.
class F32Copy {
 public:
  F32Copy(const Stream& stream, const TensorView& from, bool filled);
  const TensorView& view() const { return view_; }
  /// Rounds the elements to those of the contiguous view that it was made of.
  void write_back(const Stream& stream) const;

 private:
  TensorView from_;
  Storage storage_;
  TensorView view_;
};

/// An argument of a CPU body while the body runs.
template <class T>
class StagedArgument {
 public:
  StagedArgument(const Stream&, const T& value) : value_(value) {}
  const T& value() const { return value_; }
  void finish(const Stream&) const {}

 private:
  const T& value_;
};

template <class T, bool kReads>
class StagedArgument<Operand<T, kReads>> {
 public:
  StagedArgument(const Stream& stream, const Operand<T, kReads>& operand) : value_(operand.value) {
    const auto views = views_of(value_);
    for (std::size_t i = 0; i < views.size(); ++i) {
      if (!views[i]->defined() || !is_half(views[i]->dtype)) continue;
      *views[i] = copies_[i].emplace(stream, *views[i], kReads).view();
    }
  }
  const T& value() const { return value_; }
  void finish(const Stream& stream) const {
    if constexpr (!kReads) {
      for (const auto& copy : copies_) {
        if (copy) copy->write_back(stream);
      }
    }
  }

 private:
  T value_;
  std::array<std::optional<F32Copy>, std::tuple_size_v<decltype(views_of(std::declval<T&>()))>>
      copies_;
};

template <class T>
const T& plain(const T& value) {
  return value;
}
template <class T, bool kReads>
const T& plain(const Operand<T, kReads>& operand) {
  return operand.value;
}

/// As run_on, with operands marked by reads() and writes() where they may be floating.
template <auto kCpu, auto... kCuda, class... Args>
void run_staged(const Stream& stream, const Args&... args) {
  if (stream.is_cuda()) return run_on<kCpu, kCuda...>(stream, plain(args)...);
  [&](const auto&... staged) {
    kCpu(stream, staged.value()...);
    (staged.finish(stream), ...);
  }(StagedArgument<Args>(stream, args)...);
}

}  // namespace moiety::kernels
