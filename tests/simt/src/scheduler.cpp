// SPDX-License-Identifier: Apache-2.0
#include "scheduler.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "simt/builtins.h"

uint3 threadIdx{};
uint3 blockIdx{};
dim3 blockDim;
dim3 gridDim;

namespace simt {

unsigned current_lane = 0;

namespace {

constexpr std::uint64_t kMostSpins = std::uint64_t{1} << 22;
constexpr std::size_t kGapBytes = 256;  // between shared arrays: an overrun must not go unseen
constexpr std::size_t kDynamicAlignment = 1024;

std::size_t aligned(std::size_t offset, std::size_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

std::string text_of(uint3 index) { return concat("(", index.x, ",", index.y, ",", index.z, ")"); }

uint3 index_in(dim3 size, std::uint64_t number) {
  return {static_cast<unsigned>(number % size.x), static_cast<unsigned>(number / size.x % size.y),
          static_cast<unsigned>(number / size.x / size.y)};
}

}  // namespace

std::mutex& runtime_mutex() {
  static std::mutex mutex;
  return mutex;
}

Counters& mutable_counters() {
  static Counters counters;
  return counters;
}

Scheduler& scheduler() {
  static Scheduler* const instance = new Scheduler;
  return *instance;
}

std::string Scheduler::run(const Kernel& kernel, const Configuration& configuration) {
  kernel_ = &kernel;
  configuration_ = configuration;
  gridDim = configuration.grid;
  set_block_size(configuration.block);
  const std::uint64_t blocks = std::uint64_t{gridDim.x} * gridDim.y * gridDim.z;
  first_serial_ = serial_ + 1;
  random_state_ = (settings().seed + 1) * 0x9e3779b97f4a7c15u;
  if (settings().order == Order::random) {
    block_order_.resize(blocks);
    std::iota(block_order_.begin(), block_order_.end(), 0u);
    for (std::size_t i = blocks; i > 1; --i) {
      std::swap(block_order_[i - 1], block_order_[random() % i]);
    }
  }
  if constexpr (kChecks) checker_.begin_launch(first_serial_, blocks);
  host_ = {};
  ++mutable_counters().launches;
  for (std::uint64_t turn = 0; turn < blocks && violation_.empty(); ++turn) {
    begin_block(block_at(turn));
    run_block();
  }
  memory().clear_shared(shared_bytes_);
  return std::exchange(violation_, {});
}

void Scheduler::set_block_size(dim3 size) {
  if (size.x == blockDim.x && size.y == blockDim.y && size.z == blockDim.z) return;
  blockDim = size;
  thread_index_.resize(std::size_t{size.x} * size.y * size.z);
  for (std::size_t i = 0; i < thread_index_.size(); ++i) thread_index_[i] = index_in(size, i);
}

std::uint64_t Scheduler::block_at(std::uint64_t turn) const {
  switch (settings().order) {
    case Order::sequential:
      return turn;
    case Order::reverse:
      return std::uint64_t{gridDim.x} * gridDim.y * gridDim.z - 1 - turn;
    case Order::random:
      return block_order_[turn];
  }
  return turn;
}

std::string Scheduler::name_of(unsigned thread, std::uint32_t serial) const {
  return concat("thread ", text_of(thread_index_[thread]), " of block ",
                text_of(index_in(gridDim, block_at(serial - first_serial_))));
}

void Scheduler::begin_block(std::uint64_t number) {
  const auto threads = static_cast<unsigned>(thread_index_.size());
  ++serial_;
  ++mutable_counters().blocks;
  blockIdx = index_in(gridDim, number);
  threads_.assign(threads, {});
  ready_.resize(threads);
  std::iota(ready_.begin(), ready_.end(), 0u);
  if (settings().order == Order::reverse) std::reverse(ready_.begin(), ready_.end());
  live_ = threads;
  spins_ = 0;
  warps_.resize((threads + 31) / 32);
  for (Warp& warp : warps_) {
    warp.exited = 0;
    warp.pending.clear();
  }
  if (threads % 32 != 0) warps_.back().exited = ~0u << threads % 32;
  for (Barrier& barrier : barriers_) {
    barrier.arrived = 0;
    barrier.votes = 0;
    barrier.came = 0;
    barrier.waiting.clear();
  }
  copies_.clear();
  memory().clear_shared(shared_bytes_);
  shared_bytes_ = 0;
  static_shared_bytes_ = 0;
  dynamic_ = nullptr;
  if (const std::size_t bytes = configuration_.dynamic_shared_bytes; bytes != 0) {
    dynamic_ = memory().add_shared(0, bytes, "(dynamic)");
    shared_bytes_ = bytes + kGapBytes;
  }
  if constexpr (kChecks) checker_.begin_block(serial_, threads);
}

void Scheduler::run_block() {
  take_ready();
  Fiber& fiber = idle_fiber();
  threads_[current_].fiber = &fiber;
  switch_context(host_, fiber.context(), false);
  if (violation_.empty()) return;
  idle_.clear();  // the fibers of threads that have not ended are given up as they are
  for (const auto& each : fibers_) idle_.push_back(each.get());
}

Fiber& Scheduler::idle_fiber() {
  if (idle_.empty()) {
    fibers_.push_back(std::make_unique<Fiber>());
    idle_.push_back(fibers_.back().get());
  }
  Fiber& fiber = *idle_.back();
  idle_.pop_back();
  fiber.prepare(run_fiber);
  return fiber;
}

void Scheduler::run_fiber() {
  Fiber::arrived(scheduler().host_);
  scheduler().run_threads();
}

/// The program of a fiber: begins with the current thread and never returns.
void Scheduler::run_threads() {
  Fiber& self = *threads_[current_].fiber;
  for (;;) {
    kernel_code_runs = true;
    kernel_->run_thread();
    kernel_code_runs = false;
    exit_thread();
    if (!take_ready()) {
      if (live_ != 0) violation_ = deadlock_text();
      idle_.push_back(&self);
      switch_context(self.context(), host_, true);
    }
    Thread& next = threads_[current_];
    if (next.fiber == nullptr) {  // it may begin here, without a switch
      next.fiber = &self;
      continue;
    }
    idle_.push_back(&self);
    ++mutable_counters().switches;
    switch_context(self.context(), next.fiber->context(), true);
  }
}

/// Makes the next thread that can run the current one; false where there is none.
bool Scheduler::take_ready() {
  if (ready_.empty()) return false;
  if (settings().order == Order::random) {
    std::swap(ready_.front(), ready_[random() % ready_.size()]);
  }
  current_ = ready_.front();
  ready_.pop_front();
  threadIdx = thread_index_[current_];
  current_lane = current_ % 32;
  return true;
}

/// The current thread goes on when wake() has been called for it and its turn has come.
void Scheduler::wait(const char* operation, Place place, unsigned mask) {
  Thread& self = threads_[current_];
  self.operation = operation;
  self.place = place;
  self.mask = mask;
  give_way();
}

void Scheduler::wake(unsigned thread) {
  threads_[thread].operation = nullptr;
  ready_.push_back(thread);
  spins_ = 0;
}

void Scheduler::give_way() {
  const unsigned self = current_;
  if (!take_ready()) end_with(deadlock_text());
  if (current_ == self) return;
  Thread& next = threads_[current_];
  if (next.fiber == nullptr) next.fiber = &idle_fiber();
  ++mutable_counters().switches;
  switch_context(threads_[self].fiber->context(), next.fiber->context(), false);
}

void Scheduler::exit_thread() {
  threads_[current_].exited = true;
  --live_;
  spins_ = 0;
  Warp& warp = warps_[current_ / 32];
  warp.exited |= 1u << current_ % 32;
  // Those who wait for the others only go on without this one.
  for (std::size_t i = warp.pending.size(); i-- > 0;) complete(warp, i);
  Barrier& barrier = barriers_[0];
  if (barrier.arrived != 0 && barrier.arrived == live_) release(barrier);
}

void Scheduler::maybe_preempt() {
  if (settings().preempt <= 0 || ready_.empty()) return;
  if (static_cast<double>(random() >> 11) * 0x1p-53 >= settings().preempt) return;
  ready_.push_back(current_);
  give_way();
}

void Scheduler::spin(Place place) {
  if (++spins_ > kMostSpins) fail("livelock: the block's threads only spin", place);
  ready_.push_back(current_);
  give_way();
}

void Scheduler::fail(std::string what, Place place) {
  what += by_whom(simt::text_of(place));
  end_with(std::move(what));
}

std::string Scheduler::by_whom(const std::string& site) const {
  return concat(" (", name_of(current_, serial_), " at ", site, ")");
}

/// The stack is given up as it is: nothing that owns memory may be left on it.
void Scheduler::end_with(std::string violation) {
  violation_ = std::move(violation);
  switch_context(threads_[current_].fiber->context(), host_, true);
  __builtin_unreachable();
}

std::string Scheduler::deadlock_text() const {
  std::string text = concat("deadlock in block ", text_of(blockIdx), ":");
  for (unsigned begin = 0; begin < threads_.size();) {
    const Thread& first = threads_[begin];
    const auto alike = [&](const Thread& other) {
      return other.exited == first.exited &&
             (first.exited || (other.operation == first.operation && other.mask == first.mask &&
                               other.place.line() == first.place.line()));
    };
    unsigned end = begin + 1;
    while (end < threads_.size() && alike(threads_[end])) ++end;
    text += concat(begin == 0 ? " threads " : ", threads ", begin, " to ", end - 1);
    if (first.exited) {
      text += " have exited";
    } else {
      text += concat(" wait in ", first.operation, " at ", simt::text_of(first.place));
      if (first.mask != 0) text += concat(" for lanes 0x", std::hex, first.mask);
    }
    begin = end;
  }
  return text;
}

std::uint64_t Scheduler::random() {  // splitmix64
  std::uint64_t x = random_state_ += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

void* Scheduler::shared_memory(SharedArray& array) {
  if (array.block == serial_) return array.data;
  shared_bytes_ = aligned(shared_bytes_, std::max(array.alignment, kGapBytes));
  static_shared_bytes_ += aligned(array.bytes, 16);
  if (static_shared_bytes_ > kLargestStaticSharedMemory ||
      static_shared_bytes_ + configuration_.dynamic_shared_bytes > kLargestSharedMemory) {
    end_with(concat("too much shared memory: ", static_shared_bytes_, " bytes static and ",
                    configuration_.dynamic_shared_bytes, " dynamic, with array ", array.name));
  }
  array.data = memory().add_shared(shared_bytes_, array.bytes, array.name);
  array.block = serial_;
  shared_bytes_ += array.bytes + kGapBytes;
  return array.data;
}

}  // namespace simt
