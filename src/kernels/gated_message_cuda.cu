// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/adjacency.cuh"
#include "kernels/cuda/table_sum.cuh"

namespace moiety::kernels::cuda {
namespace {

/// Which row of an [R, C] tensor belongs to an edge.
struct EdgeRows {
  const std::int32_t* row;  ///< [E]; nullptr: row e
  std::int64_t count;       ///< R
  FaultReport bad_row;

  __device__ std::int64_t of(std::int64_t e) const { return row != nullptr ? row[e] : e; }
  __device__ bool contains(std::int64_t r) const { return r >= 0 && r < count; }
  __device__ void report(std::int64_t e) const { bad_row.check(of(e), count, e); }
};

EdgeRows edge_rows(const Stream& stream, const TensorView& row, std::int64_t count) {
  return {data_or_null<std::int32_t>(row), count, fault_report(stream, "relu_message_sum", "row")};
}

/// x[j] + edge[r], columns c onwards.
template <class T>
struct Operands {
  const T* x;     // [N, C]
  const T* edge;  // [R, C]
  std::int64_t columns;

  template <int kCount>
  __device__ Pack<T, kCount> at(std::int64_t j, std::int64_t r, std::int64_t c) const {
    Pack<T, kCount> own;
    own.load(x + j * columns + c);
    return at(own, r, c);
  }
  /// The same with the node's row at hand.
  template <int kCount>
  __device__ Pack<T, kCount> at(const Pack<T, kCount>& own, std::int64_t r, std::int64_t c) const {
    Pack<T, kCount> sum;
    sum.load(edge + r * columns + c);
#pragma unroll
    for (int k = 0; k < kCount; ++k) sum.v[k] = own.v[k] + sum.v[k];
    return sum;
  }
};

/// The value where the gate is open; NaN opens it, as in relu.
template <class F>
__device__ F keep_positive(F value, F gate) {
  return gate <= F{0} ? F{0} : value;
}

/// relu(x[j] + edge[r]).
template <class T>
struct ReluMessage : MessageDefaults<T> {
  Operands<T> operands;
  EdgeRows rows;

  template <int kCount>
  __device__ bool add(const EdgeLists::Edge& edge, std::int64_t c, const Pack<T, kCount>&,
                      Pack<T, kCount>& sum) const {
    const std::int64_t r = rows.of(edge.number);
    if (!rows.contains(r)) return false;
    const auto m = operands.template at<kCount>(edge.other, r, c);
#pragma unroll
    for (int k = 0; k < kCount; ++k) sum.v[k] += keep_positive(m.v[k], m.v[k]);
    return true;
  }
  __device__ void report(std::int64_t e) const { rows.report(e); }
};

/// [gate open] (x[j] + edge[r]).
template <class T>
struct GatedMessage : MessageDefaults<T> {
  Operands<T> gate;
  Operands<T> operands;
  EdgeRows rows;

  template <int kCount>
  __device__ bool add(const EdgeLists::Edge& edge, std::int64_t c, const Pack<T, kCount>&,
                      Pack<T, kCount>& sum) const {
    const std::int64_t r = rows.of(edge.number);
    if (!rows.contains(r)) return false;
    const auto open = gate.template at<kCount>(edge.other, r, c);
    const auto m = operands.template at<kCount>(edge.other, r, c);
#pragma unroll
    for (int k = 0; k < kCount; ++k) sum.v[k] += keep_positive(m.v[k], open.v[k]);
    return true;
  }
  __device__ void report(std::int64_t e) const { rows.report(e); }
};

/// Backwards along the edges that leave a node: [gate open] grad[i]. Where each edge has a row of
/// its own, that row of dedge is written on the way.
template <class T>
struct GatedFlow : MessageDefaults<T> {
  Operands<T> gate;
  EdgeRows rows;
  const T* grad;  // [N, C]
  T* dedge;       // [E, C] or nullptr

  template <int kCount>
  __device__ void load_own(std::int64_t j, std::int64_t c, Pack<T, kCount>& own) const {
    own.load(gate.x + j * gate.columns + c);
  }
  template <int kCount>
  __device__ bool add(const EdgeLists::Edge& edge, std::int64_t c, const Pack<T, kCount>& own,
                      Pack<T, kCount>& sum) const {
    const std::int64_t r = rows.of(edge.number);
    if (!rows.contains(r)) return false;
    const auto open = gate.at(own, r, c);
    Pack<T, kCount> flow;
    flow.load(grad + edge.other * gate.columns + c);
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      flow.v[k] = keep_positive(flow.v[k], open.v[k]);
      sum.v[k] += flow.v[k];
    }
    if (dedge != nullptr) flow.store(dedge + edge.number * gate.columns + c);
    return true;
  }
  __device__ void report(std::int64_t e) const { rows.report(e); }
};

/// The same flow of edge e alone, for sums into shared rows (table_sum.cuh).
template <class T>
struct EdgeFlows {
  Operands<T> gate;
  EdgeEnds ends;
  const std::int32_t* row;
  const T* grad;

  __device__ bool usable(std::int64_t e) const { return ends.check(e); }
  __device__ Compute<T> operator()(std::int64_t e, std::int64_t c) const {
    const auto open = gate.template at<1>(ends.src[e], row[e], c);
    return keep_positive(widen(grad[ends.dst[e] * gate.columns + c]), open.v[0]);
  }
};

template <class T>
Operands<T> operands_of(const TensorView& x, const TensorView& edge) {
  return {x.as<T>(), edge.as<T>(), x.shape[1]};
}

/// dedge[r] = sum of the flows of the edges with row r.
template <class T>
void sum_shared_rows(const Stream& stream, const MessageGate& gate, const TensorView& grad,
                     const Adjacency& adj, const TensorView& dedge) {
  FeatureGroup rows;  // one feature, whose categories are the rows
  rows.stride = rows.count = 1;
  rows.table_rows = dedge.shape[0];
  rows.dims[0] = static_cast<std::int32_t>(dedge.shape[0]);
  const auto* row = gate.row.as<std::int32_t>();
  const EdgeFlows<T> flows{operands_of<T>(gate.x, gate.edge), edge_ends(stream, adj), row,
                           grad.as<T>()};
  sum_into_table(stream, row, rows, fault_report(stream, "relu_message_sum", "row"), flows,
                 adj.edges(), dedge.shape[1], dedge.as<T>());
}

}  // namespace

void relu_message_sum(const Stream& stream, const TensorView& x, const TensorView& edge,
                      const Adjacency& adj, const TensorView& row, const TensorView& out) {
  const std::int64_t columns = x.shape[1];
  const EdgeLists lists = edge_lists(stream, adj, Direction::in);
  const EdgeRows rows = edge_rows(stream, row, edge.shape[0]);
  visit_floating(x.dtype, [&]<class T>() {
    const ReluMessage<T> message{{}, operands_of<T>(x, edge), rows};
    visit_width<T>(
        columns,
        [&]<int kCount>() { sum_edges<T, kCount>(stream, lists, message, columns, out.as<T>()); },
        x.as<T>(), edge.as<T>(), out.as<T>());
  });
}

void gated_message_sum(const Stream& stream, const MessageGate& gate, const TensorView& x,
                       const TensorView& edge, const Adjacency& adj, const TensorView& out) {
  const std::int64_t columns = x.shape[1];
  const EdgeLists lists = edge_lists(stream, adj, Direction::in);
  const EdgeRows rows = edge_rows(stream, gate.row, edge.shape[0]);
  visit_floating(x.dtype, [&]<class T>() {
    const GatedMessage<T> message{
        {}, operands_of<T>(gate.x, gate.edge), operands_of<T>(x, edge), rows};
    visit_width<T>(
        columns,
        [&]<int kCount>() { sum_edges<T, kCount>(stream, lists, message, columns, out.as<T>()); },
        gate.x.as<T>(), gate.edge.as<T>(), x.as<T>(), edge.as<T>(), out.as<T>());
  });
}

void gated_message_sum_backward(const Stream& stream, const MessageGate& gate,
                                const TensorView& grad, const Adjacency& adj, const TensorView& dx,
                                const TensorView& dedge) {
  const std::int64_t columns = grad.shape[1];
  const bool shared_rows = gate.row.defined();
  visit_floating(grad.dtype, [&]<class T>() {
    if (shared_rows && dedge.defined()) sum_shared_rows<T>(stream, gate, grad, adj, dedge);
    T* dnode = data_or_null<T>(dx);
    T* own_rows = shared_rows ? nullptr : data_or_null<T>(dedge);
    if (dnode == nullptr && own_rows == nullptr) return;
    const GatedFlow<T> message{{},
                               operands_of<T>(gate.x, gate.edge),
                               edge_rows(stream, gate.row, gate.edge.shape[0]),
                               grad.as<T>(),
                               own_rows};
    const EdgeLists lists = edge_lists(stream, adj, Direction::out);
    visit_width<T>(
        columns,
        [&]<int kCount>() { sum_edges<T, kCount>(stream, lists, message, columns, dnode); },
        gate.x.as<T>(), gate.edge.as<T>(), grad.as<T>(), dnode, own_rows);
  });
}

}  // namespace moiety::kernels::cuda
