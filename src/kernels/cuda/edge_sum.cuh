// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/element.cuh"
#include "kernels/cuda/fault.cuh"
#include "kernels/cuda/partials.cuh"
#include "kernels/cuda/rows.cuh"

// Sums over the edges of each node, in the order of its list. What an edge adds is a message: a
// small struct of pointers. For .cu files alone.
namespace moiety::kernels::cuda {

/// The edges of N nodes as lists: node i has slots ptr[i] .. ptr[i+1], slot k holds edge `edge[k]`,
/// at whose other end is node `end[e]`. An index that is out of range is reported and left out.
struct EdgeLists {
  const std::int32_t* ptr;   ///< [N+1]
  const std::int32_t* edge;  ///< [E]; nullptr: slot k holds edge k
  const std::int32_t* end;   ///< [E]; nullptr: the other end does not matter and is 0
  std::int64_t nodes;
  std::int64_t edges;
  FaultReport bad_ptr;
  FaultReport bad_edge;
  FaultReport bad_end;

  struct Slots {
    std::int64_t first;
    std::int64_t last;
  };
  struct Edge {
    std::int64_t number;
    std::int64_t other;
    bool valid;
  };

  /// The slots of node i; none where ptr leads out of the lists.
  __device__ Slots slots(std::int64_t i) const {
    const std::int64_t first = ptr[i];
    const std::int64_t last = ptr[i + 1];
    const bool inside = bad_ptr.check(first, edges + 1, i) && bad_ptr.check(last, edges + 1, i + 1);
    return inside ? Slots{first, last} : Slots{0, 0};
  }
  __device__ Edge at(std::int64_t slot) const {
    Edge out{slot, 0, true};
    if (edge != nullptr) {
      out.number = edge[slot];
      out.valid = out.number >= 0 && out.number < edges;
    }
    if (end != nullptr && out.valid) {
      out.other = end[out.number];
      out.valid = out.other >= 0 && out.other < nodes;
    }
    return out;
  }
  __device__ void report(std::int64_t slot) const {
    const std::int64_t e = edge != nullptr ? edge[slot] : slot;
    if (bad_edge.check(e, edges, slot) && end != nullptr) bad_end.check(end[e], nodes, e);
  }
};

/// What messages have unless they say otherwise.
template <class T>
struct MessageDefaults {
  /// What all edges of node i share, columns c onwards.
  template <int kCount>
  __device__ void load_own(std::int64_t, std::int64_t, Pack<T, kCount>& own) const {
    own.fill(0);
  }
  /// What a node adds itself, before its edges.
  template <int kCount>
  __device__ void start(const Pack<T, kCount>&, Pack<T, kCount>& sum) const {
    sum.fill(0);
  }
  /// Reports an index of edge e of which add() said that it is out of range.
  __device__ void report(std::int64_t) const {}
};

/// Adds the edges in every step-th slot of [first, last) to `sum`. What is wrong is looked for
/// again and reported at the end, so that the loop stays short.
template <class T, int kCount, class Message>
__device__ void add_edges(const EdgeLists& lists, const Message& message,
                          const EdgeLists::Slots& slots, unsigned first, unsigned step,
                          std::int64_t c, const Pack<T, kCount>& own, Pack<T, kCount>& sum) {
  bool valid = true;
  for (std::int64_t slot = slots.first + first; slot < slots.last; slot += step) {
    const EdgeLists::Edge edge = lists.at(slot);
    valid &= edge.valid && message.add(edge, c, own, sum);
  }
  if (valid) return;
  for (std::int64_t slot = slots.first + first; slot < slots.last; slot += step) {
    lists.report(slot);
    const EdgeLists::Edge edge = lists.at(slot);
    if (edge.valid) message.report(edge.number);
  }
}

/// out[i] = what node i adds + sum of its edges' messages: a team takes one node. out [N, C], or
/// nullptr where only what the messages write on their way is wanted.
template <class T, int kCount, class Message>
__global__ void edge_sum_kernel(EdgeLists lists, Message message, std::int64_t columns,
                                T* __restrict__ out) {
  const std::int64_t i = team_row();
  const std::int64_t c = team_column(kCount);
  if (i >= lists.nodes || c >= columns) return;
  Pack<T, kCount> own, sum;
  message.load_own(i, c, own);
  message.start(own, sum);
  add_edges(lists, message, lists.slots(i), 0, 1, c, own, sum);
  if (out != nullptr) sum.store(out + i * columns + c);
}

/// Few nodes with many edges each: the teams of a block share one node's.
template <class T, int kCount, class Message>
__global__ void long_edge_sum_kernel(EdgeLists lists, Message message, std::int64_t columns,
                                     T* __restrict__ out) {
  MOIETY_SHARED(Compute<T>, partial, [kRowBlock * kCount]);
  const std::int64_t i = blockIdx.x;
  const std::int64_t c = team_column(kCount);
  Pack<T, kCount> own, sum;
  sum.fill(0);
  if (c < columns) {
    message.load_own(i, c, own);
    if (threadIdx.y == 0) message.start(own, sum);
    add_edges(lists, message, lists.slots(i), threadIdx.y, blockDim.y, c, own, sum);
  }
  add_teams(sum, partial);
  if (out != nullptr && threadIdx.y == 0 && c < columns) sum.store(out + i * columns + c);
}

/// Launches one of the two, kCount columns a thread.
template <class T, int kCount, class Message>
void sum_edges(const Stream& stream, const EdgeLists& lists, const Message& message,
               std::int64_t columns, T* out,
               const std::source_location& where = std::source_location::current()) {
  constexpr std::int64_t kManyEdges = 32;     // a node, on average
  constexpr std::int64_t kThreads = 1 << 16;  // that fill a GPU
  Threads threads = row_threads(lists.nodes, columns, kCount, where);
  if (lists.edges >= kManyEdges * std::max<std::int64_t>(lists.nodes, 1) &&
      lists.nodes * columns < kThreads * kCount) {
    threads.grid.x = static_cast<unsigned>(lists.nodes);
    launch(long_edge_sum_kernel<T, kCount, Message>, threads, stream, lists, message, columns, out);
  } else {
    launch(edge_sum_kernel<T, kCount, Message>, threads, stream, lists, message, columns, out);
  }
}

}  // namespace moiety::kernels::cuda
