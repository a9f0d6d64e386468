// SPDX-License-Identifier: Apache-2.0
#include "tensor/device.h"

#include <charconv>
#include <cstring>

#include "tensor/host_memory.h"

namespace moiety {
namespace {

/// What is queued on a CPU has been done.
class CpuEvent final : public Event {
 public:
  void record(const Stream&) override {}
  void hold(const Stream&) const override {}
  bool passed() const override { return true; }
  void synchronize() const override {}
};

class CpuRecording final : public Recording {
 public:
  explicit CpuRecording(std::function<void()> work) : work_(std::move(work)) {}
  void replay() override { work_(); }

 private:
  std::function<void()> work_;
};

class CpuDevice final : public Device {
 public:
  CpuDevice(std::unique_ptr<SlabSource> source, int threads)
      : Device(DeviceKind::cpu, 0),
        pool_(threads),
        allocator_(std::move(source)),
        stream_(*this, &pool_, nullptr) {
    allocator_.reserve(threads);
  }

  // The CPU runs each kernel before it returns, so one stream serves every role.
  const Stream& stream(StreamRole) const override { return stream_; }
  CachingAllocator& allocator() override { return allocator_; }
  DeviceMemory memory() const override { return host_memory(); }
  Device& host() override { return *this; }
  Device& staging() override { return *this; }
  void copy_bytes(void* to, const void* from, std::size_t bytes, const Stream&) override {
    if (bytes > 0) std::memmove(to, from, bytes);
  }
  void fill_zero(void* to, std::size_t bytes, const Stream&) override {
    constexpr std::int64_t kBytesOfTask = 1 << 20;  // one core does not fill the memory's width
    parallel_for(stream_, static_cast<std::int64_t>(bytes), kBytesOfTask,
                 [to](std::int64_t begin, std::int64_t end) {
                   std::memset(static_cast<std::byte*>(to) + begin, 0,
                               static_cast<std::size_t>(end - begin));
                 });
  }
  void synchronize(const Stream&) override {}
  void wait(const Stream&, const Stream&) override {}
  std::unique_ptr<Event> make_event() override { return std::make_unique<CpuEvent>(); }
  std::unique_ptr<Recording> record(const std::function<void()>& work) override {
    return std::make_unique<CpuRecording>(work);
  }

 private:
  ThreadPool pool_;
  CachingAllocator allocator_;
  Stream stream_;
};

/// A GPU that cannot be used is the mistake of who asks for it; CUDA has not failed.
std::unique_ptr<Device> make_gpu(int index, int threads) {
  try {
    return make_cuda_device(index, threads);
  } catch (const CudaError& error) {
    throw UserError(concat(error.what(), "; ask for cpu or auto (--device, run.device)"));
  }
}

std::unique_ptr<Device> make_automatic(int threads) {
  for (const GpuInfo& gpu : list_gpus()) {
    if (!gpu.problem.empty()) continue;
    try {
      return make_cuda_device(gpu.index, threads);
    } catch (const CudaError&) {
      // Another process may have it to itself: the next one, then.
    }
  }
  return make_cpu_device(threads);
}

}  // namespace

std::string Device::name() const {
  return is_cuda() ? "cuda:" + std::to_string(index_) : std::string("cpu");
}

std::unique_ptr<Device> make_cpu_device(int threads) {
  check<UserError>(threads >= 0 && threads <= 4096, "threads must be 0 (all cores) to 4096, not ",
                   threads);
  return make_cpu_device_on(make_system_slab_source(), threads == 0 ? available_cores() : threads);
}

std::unique_ptr<Device> make_cpu_device_on(std::unique_ptr<SlabSource> source, int threads) {
  return std::make_unique<CpuDevice>(std::move(source), threads);
}

#ifndef MOIETY_HAS_CUDA
CudaStatus cuda_status() { return {0, "this build has no CUDA backend (MOIETY_CUDA=OFF)"}; }

std::vector<GpuInfo> list_gpus() { return {}; }

std::unique_ptr<Device> make_cuda_device(int, int) {
  throw CudaError("device cuda: " + cuda_status().reason);
}
#endif

std::unique_ptr<Device> make_device(const std::string& name, int threads) {
  if (name == "cpu") return make_cpu_device(threads);
  if (name == "auto") return make_automatic(threads);
  if (name == "cuda") return make_gpu(0, threads);
  if (name.starts_with("cuda:")) {
    int index = -1;
    const auto* end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + 5, end, index);
    if (error == std::errc() && stop == end && index >= 0) return make_gpu(index, threads);
  }
  throw UserError("unknown device '" + name + "': use auto, cpu, cuda or cuda:N");
}

}  // namespace moiety
