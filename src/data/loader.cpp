// SPDX-License-Identifier: Apache-2.0
#include "data/loader.h"

#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "data/collate.h"
#include "tensor/error.h"
#include "tensor/signals_held.h"
#include "tensor/thread_state.h"

namespace moiety::data {
namespace {

std::int64_t physical_memory() {
  return std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
}

}  // namespace

struct Loader::Impl {
  Impl(const Dataset& data, const Sampler& plan_source, Device& target, const LoaderOptions& given,
       Cursor start)
      : dataset(data),
        sampler(plan_source),
        device(target),
        options(given),
        read_ahead(data.info().file_bytes > physical_memory() / 2),
        reader([this, start](const std::stop_token& stop) { run(stop, start); }) {}

  void run(const std::stop_token& stop, Cursor at);
  void read_epoch(const std::stop_token& stop, Cursor at);
  LoadedBatch make(const EpochPlan& plan, Cursor at) const;
  /// Waits for room in the queue; false when it is time to stop.
  bool push(const std::stop_token& stop, LoadedBatch batch);

  Dataset dataset;
  Sampler sampler;
  Device& device;
  LoaderOptions options;
  bool read_ahead;

  std::mutex mutex;
  std::condition_variable_any changed;
  std::deque<LoadedBatch> queue;
  bool finished = false;
  std::exception_ptr error;
  std::jthread reader;  // last: stops and joins before the rest goes
};

void Loader::Impl::run(const std::stop_token& stop, Cursor at) {
  thread_state().lane = kReaderLane;
  std::exception_ptr failure;
  try {
    for (; at.epoch < options.end_epoch && !stop.stop_requested(); at = {at.epoch + 1, 0}) {
      read_epoch(stop, at);
    }
  } catch (...) {
    failure = std::current_exception();
  }
  const std::lock_guard lock(mutex);
  error = failure;
  finished = true;
  changed.notify_all();
}

void Loader::Impl::read_epoch(const std::stop_token& stop, Cursor at) {
  const EpochPlan plan = sampler.plan(at.epoch);
  check<UserError>(at.step >= 0 && at.step <= plan.steps(), "cannot resume at step ", at.step,
                   " of epoch ", at.epoch, ", which has ", plan.steps(), " steps");
  for (; at.step < plan.steps() && !stop.stop_requested(); ++at.step) {
    if (read_ahead && at.step + 1 < plan.steps()) dataset.prefetch(plan.batch(at.step + 1));
    if (!push(stop, make(plan, at))) return;
  }
}

LoadedBatch Loader::Impl::make(const EpochPlan& plan, Cursor at) const {
  const auto molecules = plan.batch(at.step);
  LoadedBatch out;
  if (!molecules.empty() && options.sequences) {
    out.sequences = collate_tokens(dataset, molecules, *options.sequences, at.epoch,
                                   options.tokens_per_part, device);
    if (options.pack_sequences) {
      out.packed = options.pack_sequences(out.sequences.at(0));
      out.sequences.clear();
    }
  } else if (!molecules.empty()) {
    out.parts = collate_parts(dataset, molecules, options.nodes_per_part, device);
    if (options.pack) {
      out.packed = options.pack(out.parts.at(0));
      out.parts.clear();
    }
  }
  out.molecules = std::ssize(molecules);
  out.global_molecules = std::ssize(plan.global_batch(at.step));
  out.cursor = at;
  out.last_of_epoch = at.step + 1 == plan.steps();
  out.next = out.last_of_epoch ? Cursor{at.epoch + 1, 0} : Cursor{at.epoch, at.step + 1};
  return out;
}

bool Loader::Impl::push(const std::stop_token& stop, LoadedBatch batch) {
  std::unique_lock lock(mutex);
  const auto has_room = [&] { return std::ssize(queue) < options.prefetch; };
  if (!changed.wait(lock, stop, has_room)) return false;
  queue.push_back(std::move(batch));
  changed.notify_all();
  return true;
}

Loader::Loader(const Dataset& dataset, const Sampler& sampler, Device& device,
               const LoaderOptions& options, Cursor start) {
  check<UserError>(options.prefetch >= 1 && options.nodes_per_part >= 0,
                   "a loader needs prefetch >= 1 and nodes_per_part >= 0");
  check<UserError>(!options.pack || options.nodes_per_part == 0,
                   "a loader packs whole batches: nodes_per_part must be 0");
  check<UserError>(options.sequences ? !options.pack : !options.pack_sequences,
                   "a loader packs batches as what they are, graphs or sequences");
  check<UserError>(!options.pack_sequences || options.tokens_per_part == 0,
                   "a loader packs whole batches: tokens_per_part must be 0");
  check<UserError>(options.tokens_per_part >= 0, "a loader needs tokens_per_part >= 0");
  check<UserError>(start.epoch >= 0 && start.step >= 0, "cannot resume at step ", start.step,
                   " of epoch ", start.epoch);
  const SignalsHeld by_reader;  // handlers belong on the program's own threads
  impl_ = std::make_unique<Impl>(dataset, sampler, device, options, start);
}

Loader::~Loader() = default;

std::optional<LoadedBatch> Loader::next() {
  std::unique_lock lock(impl_->mutex);
  impl_->changed.wait(lock, [&] { return !impl_->queue.empty() || impl_->finished; });
  if (impl_->queue.empty()) {
    if (impl_->error) std::rethrow_exception(impl_->error);
    return std::nullopt;
  }
  LoadedBatch batch = std::move(impl_->queue.front());
  impl_->queue.pop_front();
  impl_->changed.notify_all();
  return batch;
}

}  // namespace moiety::data
