// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tensor/caching_allocator.h"
#include "tensor/event.h"
#include "tensor/recording.h"
#include "tensor/stream.h"

namespace moiety {

enum class DeviceKind : std::uint8_t { cpu, cuda };
enum class StreamRole : std::uint8_t { compute, communication, copy };

/// A place where tensors live and kernels run. Created in main, carried by storage, destroyed after
/// all tensors on it: it owns its streams, its caching allocator and its threads.
class Device {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  DeviceKind kind() const { return kind_; }
  int index() const { return index_; }
  bool is_cuda() const { return kind_ == DeviceKind::cuda; }
  /// "cpu", "cuda:0".
  std::string name() const;

  /// Whether f32 products may round their operands to tf32, which tensor cores multiply several
  /// times faster. Off unless asked for; a CPU has no such products.
  bool fast_products() const { return fast_products_; }
  void set_fast_products(bool fast) { fast_products_ = fast; }

  virtual const Stream& stream(StreamRole role = StreamRole::compute) const = 0;
  virtual CachingAllocator& allocator() = 0;
  /// Its memory now, whoever uses it.
  virtual DeviceMemory memory() const = 0;
  /// The CPU on which data for this device are made: a CPU device itself.
  virtual Device& host() = 0;
  /// The CPU whose tensors this device copies without waiting: their memory is page-locked where
  /// this is a GPU, so keep no more there than what is on its way.
  virtual Device& staging() = 0;

  /// Copies bytes between two places of which at least one is on this device (the other may be host
  /// memory). Ordered on the stream; returns when done if one of them is pageable host memory, else
  /// both must live until the stream has passed.
  virtual void copy_bytes(void* to, const void* from, std::size_t bytes, const Stream& stream) = 0;
  virtual void fill_zero(void* to, std::size_t bytes, const Stream& stream) = 0;
  /// Returns when all work queued on the stream is done. Throws what a kernel found wrong with its
  /// input: indices on a GPU are checked there, without waiting.
  virtual void synchronize(const Stream& stream) = 0;
  /// Work queued on `later` from now on starts after all that is queued on `earlier` now. Blocks of
  /// the allocator belong to the compute stream: before another stream touches one, let it wait for
  /// the compute stream, and let the compute stream wait for it before the block is freed.
  virtual void wait(const Stream& later, const Stream& earlier) = 0;
  virtual std::unique_ptr<Event> make_event() = 0;

  /// Records what `work` queues on the compute stream and does not run it. Tensors that `work`
  /// frees are used again by each replay and by all recordings of this device, which must therefore
  /// be replayed on one stream; others it may read and write must outlive the recording. `work` may
  /// not wait for the device.
  virtual std::unique_ptr<Recording> record(const std::function<void()>& work) = 0;

 protected:
  Device(DeviceKind kind, int index) : kind_(kind), index_(index) {}

 private:
  DeviceKind kind_;
  int index_;
  bool fast_products_ = false;
};

/// The CPU with a pool of `threads` threads; 0 means one per core that this process may use.
std::unique_ptr<Device> make_cpu_device(int threads = 0);
/// Likewise, with memory from elsewhere.
std::unique_ptr<Device> make_cpu_device_on(std::unique_ptr<SlabSource> source, int threads);

/// Cores that this process may use: its affinity mask and the CPU quota of its control groups.
int available_cores();

/// What is known of the GPUs: `count` usable ones, or why there is none.
struct CudaStatus {
  int count = 0;
  std::string reason;
};
CudaStatus cuda_status();

/// A GPU that the driver shows.
struct GpuInfo {
  int index = 0;
  std::string name;              ///< "NVIDIA H200"
  std::size_t memory_bytes = 0;  ///< all of it
  std::string problem;           ///< why "auto" passes it over, "" where it takes it
};
std::vector<GpuInfo> list_gpus();

/// GPU number `index`, with `host_threads` threads on its host (0: one a core). Throws CudaError
/// saying why where there is none.
std::unique_ptr<Device> make_cuda_device(int index = 0, int host_threads = 0);

/// "auto" (the first GPU that can be used, the CPU where there is none), "cpu", "cuda" (the first
/// GPU) or "cuda:N". Throws UserError for another name and for a GPU that cannot be used, saying
/// why.
std::unique_ptr<Device> make_device(const std::string& name, int threads = 0);

}  // namespace moiety
