// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/cpu_loops.h"
#include "kernels/edge_slots.h"
#include "kernels/index_check.h"
#include "kernels/lanes.h"
#include "kernels/optional_view.h"

namespace moiety::kernels::cpu {
namespace {

template <Direction kDirection, class T>
struct NeighborSum {
  Slots<kDirection> slots;
  std::int64_t channels;
  const T* x;
  const T* weight;
  const T* self;
  T* out;

  /// By value and flattened: everything that the loops read stays in registers.
  template <bool kWeighted>
  [[gnu::flatten]] static void run(const NeighborSum s, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T own = s.self != nullptr ? s.self[i] : T{0};
      for_column_blocks<T>(0, s.channels, [=](std::int64_t c, auto sum) {
        auto term = sum;
        sum.clear();
        if (s.self != nullptr) {
          term.load(s.x + i * s.channels + c);
          sum.add_scaled(own, term);
        }
        const std::int64_t last = s.slots.end(i);
        for (std::int64_t slot = s.slots.begin(i); slot < last; ++slot) {
          const std::int64_t e = s.slots.edge(slot);
          term.load(s.x + s.slots.other(e) * s.channels + c);
          if constexpr (kWeighted) {
            sum.add_scaled(s.weight[e], term);
          } else {
            sum.add(term);
          }
        }
        sum.store(s.out + i * s.channels + c);
      });
    }
  }
};

template <Direction kDirection, class T>
void neighbor_sum_of(const Stream& stream, const TensorView& x, const Adjacency& adj,
                     const TensorView& edge_weight, const TensorView& self_weight,
                     const TensorView& out) {
  const NeighborSum<kDirection, T> sum{
      Slots<kDirection>(adj),       x.shape[1], x.as<T>(), data_or_null<T>(edge_weight),
      data_or_null<T>(self_weight), out.as<T>()};
  parallel_for(stream, adj.nodes(), row_grain(work_per_node(adj, x.shape[1])),
               [&](std::int64_t begin, std::int64_t end) {
                 if (sum.weight != nullptr) {
                   sum.template run<true>(sum, begin, end);
                 } else {
                   sum.template run<false>(sum, begin, end);
                 }
               });
}

template <class T>
[[gnu::flatten]] void edge_dots(const T* a, const T* b, const std::int32_t* src,
                                const std::int32_t* dst, std::int64_t channels, std::int64_t begin,
                                std::int64_t end, T* out) {
  for (std::int64_t e = begin; e < end; ++e) {
    out[e] = dot(a + dst[e] * channels, b + src[e] * channels, channels);
  }
}

}  // namespace

void check_adjacency(const Stream& stream, const Adjacency& adj) {
  const std::int64_t nodes = adj.nodes();
  const std::int64_t edges = adj.edges();
  check<ShapeError>(
      adj.dst.numel() == edges && adj.out_edge.numel() == edges && adj.out_ptr.numel() == nodes + 1,
      "adjacency: src, dst, out_edge and row_ptr, out_ptr must have one length each, "
      "not ",
      edges, ", ", adj.dst.numel(), ", ", adj.out_edge.numel(), " and ", nodes + 1, ", ",
      adj.out_ptr.numel());
  check_ptr(stream, adj.row_ptr, edges, "adjacency", "row_ptr");
  check_ptr(stream, adj.out_ptr, edges, "adjacency", "out_ptr");
  check_index(stream, adj.src, nodes, "adjacency", "src");
  check_index(stream, adj.dst, nodes, "adjacency", "dst");
  check_index(stream, adj.out_edge, edges, "adjacency", "out_edge");
}

void neighbor_sum(const Stream& stream, const TensorView& x, const Adjacency& adj,
                  Direction direction, const TensorView& edge_weight, const TensorView& self_weight,
                  const TensorView& out) {
  visit_float(x.dtype, [&]<class T>() {
    if (direction == Direction::in) {
      neighbor_sum_of<Direction::in, T>(stream, x, adj, edge_weight, self_weight, out);
    } else {
      neighbor_sum_of<Direction::out, T>(stream, x, adj, edge_weight, self_weight, out);
    }
  });
}

void edge_dot(const Stream& stream, const TensorView& a_view, const TensorView& b_view,
              const Adjacency& adj, const TensorView& out_view) {
  visit_float(a_view.dtype, [&]<class T>() {
    const std::int64_t channels = a_view.shape[1];
    const T* a = a_view.as<T>();
    const T* b = b_view.as<T>();
    T* out = out_view.as<T>();
    const auto* src = adj.src.data<std::int32_t>();
    const auto* dst = adj.dst.data<std::int32_t>();
    parallel_for(stream, adj.edges(), row_grain(2 * channels),
                 [=](std::int64_t begin, std::int64_t end) {
                   edge_dots(a, b, src, dst, channels, begin, end, out);
                 });
  });
}

void gcn_weights(const Stream& stream, const Adjacency& adj, const TensorView& edge_view,
                 const TensorView& self_view) {
  visit_float(edge_view.dtype, [&]<class T>() {
    T* edge = edge_view.as<T>();
    T* self = self_view.as<T>();
    const auto* ptr = adj.row_ptr.data<std::int32_t>();
    const auto* src = adj.src.data<std::int32_t>();
    const auto degree = [ptr](std::int64_t i) { return static_cast<T>(ptr[i + 1] - ptr[i] + 1); };
    parallel_for(stream, adj.nodes(), row_grain(8), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        self[i] = T{1} / degree(i);
        for (std::int64_t e = ptr[i]; e < ptr[i + 1]; ++e) {
          edge[e] = T{1} / std::sqrt(degree(i) * degree(src[e]));
        }
      }
    });
  });
}

}  // namespace moiety::kernels::cpu
