// SPDX-License-Identifier: Apache-2.0
#include "tensor/packed_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "support/error_text.h"

namespace moiety {
namespace {

/// Two molecules, of three nodes in a row and of two.
GraphBatch two_molecules(Device& device) {
  const std::vector<std::int32_t> src = {1, 0, 2, 1, 4, 3};
  const std::vector<std::int32_t> dst = {0, 1, 1, 2, 3, 4};
  GraphBatch batch;
  batch.adj = make_adjacency(src, dst, 5, device);
  batch.x = Tensor::from(std::vector<std::int32_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {5, 2}, device);
  batch.edge_attr = Tensor::from(std::vector<std::int32_t>{1, 2, 3, 4, 5, 6}, {6, 1}, device);
  batch.graph_ptr = Tensor::from(std::vector<std::int32_t>{0, 3, 5}, {3}, device);
  batch.y = Tensor::from(std::vector<float>{0.5f, 1.5f}, {2, 1}, device);
  return batch;
}

template <class T>
std::vector<T> head(const Tensor& t, std::int64_t count) {
  std::vector<T> all = t.to_vector<T>();
  all.resize(static_cast<std::size_t>(count));
  return all;
}

TEST(PaddedSize, WastesAnEighthAtMost) {
  const auto device = make_cpu_device(1);
  for (const std::int64_t nodes : {0, 1, 62, 63, 64, 71, 72, 127, 128, 1000, 12345}) {
    GraphBatch batch;
    batch.adj = make_adjacency({}, {}, nodes, *device);
    batch.graph_ptr = Tensor::zeros({3}, DType::i32, *device);
    const BatchSize size = padded_size(batch);
    EXPECT_GE(size.nodes, nodes + 32);  // the 64 edges are spare
    EXPECT_LE(size.nodes, std::max<std::int64_t>(64, (nodes + 32) * 9 / 8 + 1)) << nodes;
    EXPECT_EQ(size.nodes % 8, 0);
    EXPECT_EQ(size.edges, 64);
    EXPECT_EQ(size.graphs, 64);
  }
}

TEST(PackedBatch, KeepsTheBatchAndPadsItWithAGraphOfItsOwn) {
  const auto device = make_cpu_device(1);
  const GraphBatch batch = two_molecules(*device);
  const PackedBatch packed = pack(batch, {9, 11, 5}, 100, *device);
  const GraphBatch& graphs = packed.graphs;
  EXPECT_EQ(graphs.nodes(), 9);
  EXPECT_EQ(graphs.edges(), 11);
  EXPECT_EQ(graphs.graphs(), 5);
  EXPECT_EQ(packed.rows.to_vector<std::int32_t>(), std::vector<std::int32_t>{5});
  EXPECT_EQ(packed.extra.numel(), 100);
  EXPECT_EQ(head<std::int32_t>(graphs.x, 10), batch.x.to_vector<std::int32_t>());
  EXPECT_EQ(head<std::int32_t>(graphs.edge_attr, 6), batch.edge_attr.to_vector<std::int32_t>());
  EXPECT_EQ(graphs.graph_ptr.to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{0, 3, 5, 9, 9, 9}));
  const auto y = graphs.y.to_vector<float>();
  EXPECT_EQ(head<float>(graphs.y, 2), batch.y.to_vector<float>());
  EXPECT_TRUE(std::all_of(y.begin() + 2, y.end(), [](float v) { return std::isnan(v); }));
  // The adjacency is what one made from its edges would be.
  const auto src = graphs.adj.src.to_vector<std::int32_t>();
  const auto dst = graphs.adj.dst.to_vector<std::int32_t>();
  const Adjacency made = make_adjacency(src, dst, 9, *device);
  EXPECT_EQ(graphs.adj.row_ptr.to_vector<std::int32_t>(), made.row_ptr.to_vector<std::int32_t>());
  EXPECT_EQ(graphs.adj.out_ptr.to_vector<std::int32_t>(), made.out_ptr.to_vector<std::int32_t>());
  EXPECT_EQ(graphs.adj.out_edge.to_vector<std::int32_t>(), made.out_edge.to_vector<std::int32_t>());
  EXPECT_EQ(head<std::int32_t>(graphs.adj.src, 6), batch.adj.src.to_vector<std::int32_t>());
  EXPECT_TRUE(std::all_of(src.begin() + 6, src.end(), [](std::int32_t v) { return v >= 5; }));
}

TEST(PackedBatch, OneCopyMovesIt) {
  const auto device = make_cpu_device(1);
  const PackedBatch packed = pack(two_molecules(*device), {64, 64, 8}, 64, *device);
  const PackedBatch twin = same_layout(packed, *device);
  ASSERT_EQ(twin.memory.numel(), packed.memory.numel());
  twin.memory.copy_from(packed.memory);
  EXPECT_EQ(twin.graphs.x.to_vector<std::int32_t>(), packed.graphs.x.to_vector<std::int32_t>());
  EXPECT_EQ(twin.graphs.adj.out_edge.to_vector<std::int32_t>(),
            packed.graphs.adj.out_edge.to_vector<std::int32_t>());
  EXPECT_EQ(twin.rows.item(), 5);
}

TEST(PackedBatch, RefusesASizeWithoutRoom) {
  const auto device = make_cpu_device(1);
  const GraphBatch batch = two_molecules(*device);
  for (const BatchSize& size : {BatchSize{5, 6, 3}, BatchSize{6, 5, 3}, BatchSize{6, 6, 2}}) {
    EXPECT_TRUE(
        testing::says(testing::error_text<ShapeError>([&] { pack(batch, size, 0, *device); }),
                      {"5 nodes, 6 edges and 2 graphs"}));
  }
}

}  // namespace
}  // namespace moiety
