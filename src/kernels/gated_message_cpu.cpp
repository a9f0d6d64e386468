// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "kernels/cpu_loops.h"
#include "kernels/edge_slots.h"
#include "kernels/lanes.h"
#include "kernels/optional_view.h"

namespace moiety::kernels::cpu {
namespace {

/// Operands of the messages x[j] + edge[row[e]].
template <class T>
struct Messages {
  const T* x;
  const T* edge;
  const std::int32_t* row;
  std::int64_t channels;

  Messages(const TensorView& x_view, const TensorView& edge_view, const TensorView& row_view)
      : x(x_view.as<T>()),
        edge(edge_view.as<T>()),
        row(data_or_null<std::int32_t>(row_view)),
        channels(x_view.shape[1]) {}

  std::int64_t row_of(std::int64_t e) const { return row != nullptr ? row[e] : e; }
  /// m = x[j] + edge[row[e]], columns c onwards.
  template <class B>
  void load(std::int64_t j, std::int64_t e, std::int64_t c, B& m) const {
    B other = m;
    m.load(x + j * channels + c);
    other.load(edge + row_of(e) * channels + c);
    m.add(other);
  }
};

/// out[i] = sum over incoming edges of message(j, e, c, block), nodes [begin, end). By value and
/// flattened: everything that the loops read stays in registers.
template <class T, class Message>
[[gnu::flatten]] void sum_message_rows(const Slots<Direction::in> slots, std::int64_t channels,
                                       const Message message, std::int64_t begin, std::int64_t end,
                                       T* out) {
  for (std::int64_t i = begin; i < end; ++i) {
    for_column_blocks<T>(0, channels, [=](std::int64_t c, auto sum) {
      auto m = sum;
      sum.clear();
      const std::int64_t last = slots.end(i);
      for (std::int64_t e = slots.begin(i); e < last; ++e) {
        message(slots.other(e), e, c, m);
        sum.add(m);
      }
      sum.store(out + i * channels + c);
    });
  }
}

template <class T, class Message>
void sum_messages(const Stream& stream, const Adjacency& adj, std::int64_t channels,
                  const TensorView& out, const Message& message) {
  const Slots<Direction::in> slots(adj);
  parallel_for(stream, adj.nodes(), row_grain(work_per_node(adj, 2 * channels)),
               [&](std::int64_t begin, std::int64_t end) {
                 sum_message_rows(slots, channels, message, begin, end, out.as<T>());
               });
}

template <class T>
struct GatedBackward {
  Messages<T> gate;
  Slots<Direction::out> slots;
  const T* grad;
  T* dx;
  T* dedge;

  /// The backward pass of a range of nodes and columns.
  template <bool kSharedRows>
  [[gnu::flatten]] static void run(const GatedBackward b, std::int64_t j_begin, std::int64_t j_end,
                                   std::int64_t c_begin, std::int64_t c_end) {
    for (std::int64_t j = j_begin; j < j_end; ++j) {
      for_column_blocks<T>(c_begin, c_end, [=](std::int64_t c, auto sum) {
        b.template run_block<kSharedRows>(j, c, sum);
      });
    }
  }

 private:
  template <bool kSharedRows, class B>
  void run_block(std::int64_t j, std::int64_t c, B sum) const {
    B message = sum, flow = sum;
    sum.clear();
    const std::int64_t end = slots.end(j);
    for (std::int64_t slot = slots.begin(j); slot < end; ++slot) {
      const std::int64_t e = slots.edge(slot);
      gate.load(j, e, c, message);
      flow.load(grad + slots.other(e) * gate.channels + c);
      flow.keep_positive(message);
      sum.add(flow);
      if (dedge != nullptr) {
        T* to = dedge + gate.row_of(e) * gate.channels + c;
        if constexpr (kSharedRows) {
          message.load(to);
          flow.add(message);
        }
        flow.store(to);
      }
    }
    if (dx != nullptr) sum.store(dx + j * gate.channels + c);
  }
};

template <class T>
void gated_backward_of(const Stream& stream, const MessageGate& gate, const TensorView& grad,
                       const Adjacency& adj, const TensorView& dx, const TensorView& dedge) {
  const Messages<T> messages(gate.x, gate.edge, gate.row);
  const GatedBackward<T> backward{messages, Slots<Direction::out>(adj), grad.as<T>(),
                                  data_or_null<T>(dx), data_or_null<T>(dedge)};
  const std::int64_t nodes = adj.nodes();
  const std::int64_t channels = messages.channels;
  const std::int64_t work = work_per_node(adj, 2 * channels);
  if (backward.dedge == nullptr || !gate.row.defined()) {
    parallel_for(stream, nodes, row_grain(work), [&](std::int64_t begin, std::int64_t end) {
      backward.template run<false>(backward, begin, end, 0, channels);
    });
    return;
  }
  // Edges of different nodes share rows of dedge, so tasks take columns of their own instead.
  std::memset(backward.dedge, 0, static_cast<std::size_t>(dedge.numel()) * sizeof(T));
  parallel_for(stream, channels, column_grain<T>(4 * adj.edges()),
               [&](std::int64_t begin, std::int64_t end) {
                 backward.template run<true>(backward, 0, nodes, begin, end);
               });
}

}  // namespace

void relu_message_sum(const Stream& stream, const TensorView& x, const TensorView& edge,
                      const Adjacency& adj, const TensorView& row, const TensorView& out) {
  visit_float(x.dtype, [&]<class T>() {
    const Messages<T> messages(x, edge, row);
    sum_messages<T>(stream, adj, messages.channels, out,
                    [=](std::int64_t j, std::int64_t e, std::int64_t c, auto& m) {
                      messages.load(j, e, c, m);
                      m.keep_positive(m);
                    });
  });
}

void gated_message_sum(const Stream& stream, const MessageGate& gate, const TensorView& x,
                       const TensorView& edge, const Adjacency& adj, const TensorView& out) {
  visit_float(x.dtype, [&]<class T>() {
    const Messages<T> gates(gate.x, gate.edge, gate.row);
    const Messages<T> messages(x, edge, gate.row);
    sum_messages<T>(stream, adj, messages.channels, out,
                    [=](std::int64_t j, std::int64_t e, std::int64_t c, auto& m) {
                      auto open = m;
                      gates.load(j, e, c, open);
                      messages.load(j, e, c, m);
                      m.keep_positive(open);
                    });
  });
}

void gated_message_sum_backward(const Stream& stream, const MessageGate& gate,
                                const TensorView& grad, const Adjacency& adj, const TensorView& dx,
                                const TensorView& dedge) {
  visit_float(grad.dtype,
              [&]<class T>() { gated_backward_of<T>(stream, gate, grad, adj, dx, dedge); });
}

}  // namespace moiety::kernels::cpu
