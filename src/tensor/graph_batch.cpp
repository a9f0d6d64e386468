// SPDX-License-Identifier: Apache-2.0
#include "tensor/graph_batch.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace moiety {
namespace {

using Indices = std::vector<std::int32_t>;

/// ptr[i] .. ptr[i+1] counts the keys that are i.
Indices offsets(std::span<const std::int32_t> keys, std::int64_t nodes) {
  Indices ptr(static_cast<std::size_t>(nodes) + 1, 0);
  for (const std::int32_t key : keys) ++ptr[static_cast<std::size_t>(key) + 1];
  std::partial_sum(ptr.begin(), ptr.end(), ptr.begin());
  return ptr;
}

/// Edge numbers ordered by source; those of one source ascend.
Indices edges_by_source(std::span<const std::int32_t> src, Indices next) {
  Indices out(src.size());
  for (std::size_t e = 0; e < src.size(); ++e) {
    const auto place = static_cast<std::size_t>(next[static_cast<std::size_t>(src[e])]++);
    out[place] = static_cast<std::int32_t>(e);
  }
  return out;
}

}  // namespace

Adjacency make_adjacency(std::span<const std::int32_t> src, std::span<const std::int32_t> dst,
                         std::int64_t nodes, Device& device) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  check<ShapeError>(src.size() == dst.size(), "make_adjacency: ", src.size(), " sources and ",
                    dst.size(), " destinations");
  check<ShapeError>(nodes >= 0 && nodes < kMost && std::ssize(src) < kMost,
                    "make_adjacency: ", nodes, " nodes and ", src.size(),
                    " edges do not fit 32-bit offsets");
  for (std::size_t e = 0; e < src.size(); ++e) {
    check<ShapeError>(std::min(src[e], dst[e]) >= 0 && std::max(src[e], dst[e]) < nodes,
                      "make_adjacency: edge ", e, " goes from ", src[e], " to ", dst[e], " among ",
                      nodes, " nodes");
    check<ShapeError>(e == 0 || dst[e - 1] <= dst[e], "make_adjacency: edge ", e, " ends at ",
                      dst[e], " after one that ends at ", e == 0 ? 0 : dst[e - 1],
                      "; sort the edges by destination");
  }
  const Indices out_ptr = offsets(src, nodes);
  const Indices out_edge = edges_by_source(src, out_ptr);
  const auto tensor = [&](std::span<const std::int32_t> values) {
    return Tensor::from(Indices(values.begin(), values.end()), {std::ssize(values)}, device);
  };
  return {tensor(offsets(dst, nodes)),
          tensor(src),
          tensor(dst),
          tensor(out_ptr),
          tensor(out_edge),
          /*checked=*/true};
}

GraphBatch to_device(const GraphBatch& batch, Device& device) {
  const auto moved = [&device](const Tensor& t) { return t.defined() ? t.to(device) : t; };
  GraphBatch out = batch;
  for (Tensor* tensor : {&out.x, &out.adj.row_ptr, &out.adj.src, &out.adj.dst, &out.adj.out_ptr,
                         &out.adj.out_edge, &out.edge_attr, &out.graph_ptr, &out.y, &out.index}) {
    *tensor = moved(*tensor);
  }
  return out;
}

}  // namespace moiety
