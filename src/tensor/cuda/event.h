// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "tensor/event.h"

namespace moiety {

/// Whether an event keeps the time at which it passed, which costs the GPU a little.
enum class EventTime : std::uint8_t { none, kept };

/// A CUDA event.
class CudaEvent final : public Event {
 public:
  /// For the streams of one GPU. Throws CudaError, as all members do.
  explicit CudaEvent(Device& device, EventTime time = EventTime::none);
  ~CudaEvent() override;

  void record(const Stream& stream) override;
  void hold(const Stream& stream) const override;
  bool passed() const override;
  void synchronize() const override;
  /// Seconds from `earlier` to this event by the GPU's clock, in steps of about half a microsecond.
  /// Waits for this event; both keep the time and are recorded, `earlier` before this one.
  double seconds_since(const CudaEvent& earlier) const;

 private:
  Device& device_;
  cudaEvent_t event_ = nullptr;
};

}  // namespace moiety
