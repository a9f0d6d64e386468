// SPDX-License-Identifier: Apache-2.0
#include "nn/recorded_step.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "autograd/engine.h"
#include "tensor/thread_state.h"

namespace moiety::nn {
namespace {

/// Steps that may be queued ahead of the device: enough to hide the host, and no more, because each
/// holds its batch.
constexpr std::size_t kFlights = 3;
/// Each keeps its batch and a CUDA graph.
constexpr std::size_t kMostPrograms = 32;

}  // namespace

/// A size of batch, and the work for it.
struct RecordedStep::Program {
  PackedBatch batch;  // on the device, where the work reads it
  std::unique_ptr<Recording> recording;
  bool has_run = false;
  std::size_t keys = StepNumbers::kMostKeys;  // that it takes; known once it has run
  std::uint64_t used_at = 0;
};

/// A part on its way: it keeps alive what copies still read, and takes back what the step did.
struct RecordedStep::Flight {
  explicit Flight(Device& device)
      : uploaded(device.make_event()),
        done(device.make_event()),
        decision(Tensor::empty({kernels::kDecisionSize}, DType::f64, device.staging())) {}

  std::unique_ptr<Event> uploaded;
  std::unique_ptr<Event> done;
  Tensor decision;    // of the step, on the host
  PackedBatch batch;  // on the host
  Tensor landing;     // u8, on the device: where the copy stream puts the batch
  bool pending = false;
  bool ends_step = false;
};

RecordedStep::RecordedStep(const FlatParameters& parameters, const FlatBuffer& gradients,
                           Optimizer& optimizer, Ema* ema, BatchLoss loss)
    : parameters_(parameters),
      gradients_(gradients),
      optimizer_(optimizer),
      ema_(ema),
      loss_(std::move(loss)),
      device_(parameters.device()) {
  for (std::size_t i = 0; i < kFlights; ++i) flights_.push_back(std::make_unique<Flight>(device_));
}

RecordedStep::~RecordedStep() {
  // Copies may still be reading host memory that goes now.
  try {
    device_.synchronize(device_.stream(StreamRole::copy));
    device_.synchronize(device_.stream());
  } catch (const Error&) {  // somebody else's fault, which is reported elsewhere
  }
}

void RecordedStep::run(StepPart part) {
  Flight& flight = *flights_[next_flight_];
  land(flight);
  Program& program = program_for(part);
  write_numbers(part, program.keys);
  flight.batch = std::move(part.batch);  // lives until its copy is done
  upload(flight, program.batch.memory);
  const bool first = part.number == 0;
  const bool last = part.last;
  if (!program.has_run) {
    const LaneScope lane(kRecordingLane);  // where recordings will find this memory again
    program.keys = work(program.batch, first, last);
    program.has_run = true;
  } else {
    if (!program.recording) {
      program.recording = device_.record([&] { work(program.batch, first, last); });
    }
    program.recording->replay();
  }
  const Stream& stream = device_.stream();
  if (last) {
    device_.copy_bytes(flight.decision.raw_data(), optimizer_.decision().raw_data(),
                       flight.decision.bytes(), stream);
  }
  flight.done->record(stream);
  flight.ends_step = last;
  flight.pending = true;
  next_flight_ = (next_flight_ + 1) % kFlights;
}

std::vector<StepResult> RecordedStep::results(bool wait) {
  for (std::size_t i = 0; i < kFlights; ++i) {
    Flight& flight = *flights_[(next_flight_ + i) % kFlights];
    if (!wait && flight.pending && !flight.done->passed()) break;
    land(flight);
  }
  return std::exchange(results_, {});
}

std::int64_t RecordedStep::recordings() const {
  return std::ranges::count_if(programs_,
                               [](const auto& each) { return each.second->recording != nullptr; });
}

/// Waits for the part and keeps what its step did.
void RecordedStep::land(Flight& flight) {
  if (!flight.pending) return;
  flight.done->synchronize();
  flight.pending = false;
  flight.batch = {};
  if (!flight.ends_step) return;
  kernels::StepDecision decision{};
  std::memcpy(&decision, flight.decision.raw_data(), sizeof decision);
  results_.push_back({decision.loss, Optimizer::report(decision)});
  optimizer_.check_skipped(results_.back().report);
}

RecordedStep::Program& RecordedStep::program_for(const StepPart& part) {
  check(part.batch.holds_tokens() == std::holds_alternative<TokenLoss>(loss_),
        "a recorded step takes batches of what its loss does: graphs or tokens");
  const Key key{part.batch.extents, part.number == 0, part.last};
  const auto found = programs_.find(key);
  if (found == programs_.end() && programs_.size() >= kMostPrograms) {
    programs_.erase(std::ranges::min_element(
        programs_, {}, [](const auto& each) { return each.second->used_at; }));
  }
  std::unique_ptr<Program>& program = found == programs_.end() ? programs_[key] : found->second;
  if (!program) {
    program = std::make_unique<Program>();
    program->batch = same_layout(part.batch, device_);
  }
  check<ShapeError>(program->batch.memory.numel() == part.batch.memory.numel(),
                    "a recorded step takes batches with the same features and targets");
  program->used_at = ++clock_;
  return *program;
}

void RecordedStep::write_numbers(const StepPart& part, std::size_t key_count) const {
  check(part.batch.extra.numel() == sizeof(StepNumbers), "a part of a recorded step needs ",
        sizeof(StepNumbers), " bytes for its numbers");
  StepNumbers numbers;
  numbers.lr = part.lr;
  numbers.ema_weight = ema_ != nullptr && part.last ? ema_->next_weight() : 0;
  numbers.scale = static_cast<float>(part.scale);
  ForwardContext context = ForwardContext::training(part.seed, part.step, part.number);
  for (std::size_t i = 0; i < key_count; ++i) numbers.keys[i] = context.next_dropout_key();
  std::memcpy(part.batch.extra.raw_data(), &numbers, sizeof numbers);
}

void RecordedStep::upload(Flight& flight, const Tensor& to) {
  const Tensor& from = flight.batch.memory;
  const Stream& compute = device_.stream();
  const Stream& copy = device_.stream(StreamRole::copy);
  const std::size_t bytes = from.bytes();
  if (!flight.landing.defined() || flight.landing.bytes() < bytes) {
    flight.landing = Tensor::empty(from.shape(), DType::u8, device_);
    device_.wait(copy, compute);  // who had this memory may still be using it
  }
  device_.copy_bytes(flight.landing.raw_data(), from.raw_data(), bytes, copy);
  flight.uploaded->record(copy);
  flight.uploaded->hold(compute);
  device_.copy_bytes(to.raw_data(), flight.landing.raw_data(), bytes, compute);
}

std::size_t RecordedStep::work(const PackedBatch& batch, bool first, bool last) const {
  const auto number = [&](std::size_t offset, const Shape& shape, DType dtype) {
    return batch.extra.part(static_cast<std::int64_t>(offset), shape, dtype);
  };
  constexpr auto kKeys = static_cast<std::int64_t>(StepNumbers::kMostKeys);
  const Tensor scale = number(offsetof(StepNumbers, scale), {}, DType::f32);
  ForwardContext context =
      ForwardContext::recorded(number(offsetof(StepNumbers, keys), {kKeys, 2}, DType::i64));
  context.set_rows(batch.rows);
  if (first) gradients_.flat.fill_zero();
  const auto* const of_graphs = std::get_if<GraphLoss>(&loss_);
  const Variable loss = of_graphs != nullptr ? (*of_graphs)(batch.graphs, context)
                                             : std::get<TokenLoss>(loss_)(batch.tokens, context);
  autograd::backward(loss, parameters_.parameters(), gradients_.views, optimizer_.loss_seed(scale));
  kernels::add_loss(device_.stream(), loss.data(), scale, first, optimizer_.decision());
  const std::size_t keys = context.keys_taken();
  if (!last) return keys;
  optimizer_.enqueue(gradients_, number(offsetof(StepNumbers, lr), {1}, DType::f64));
  if (ema_ != nullptr) {
    ema_->enqueue(number(offsetof(StepNumbers, ema_weight), {1}, DType::f64));
  }
  return keys;
}

}  // namespace moiety::nn
