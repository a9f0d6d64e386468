// SPDX-License-Identifier: Apache-2.0
#include "tensor/graph_batch.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/error_text.h"

namespace moiety {
namespace {

using Indices = std::vector<std::int32_t>;
using moiety::testing::error_text;
using moiety::testing::says;

TEST(MakeAdjacency, SortsTheEdgesByBothEnds) {
  const auto device = make_cpu_device();
  // 1 -> 0, 2 -> 0, 0 -> 1, 2 -> 1; node 2 has no incoming edge, node 3 none at all.
  const Adjacency adj = make_adjacency(Indices{1, 2, 0, 2}, Indices{0, 0, 1, 1}, 4, *device);
  EXPECT_EQ(adj.nodes(), 4);
  EXPECT_EQ(adj.edges(), 4);
  EXPECT_TRUE(adj.checked);
  EXPECT_EQ(adj.row_ptr.to_vector<std::int32_t>(), (Indices{0, 2, 4, 4, 4}));
  EXPECT_EQ(adj.out_ptr.to_vector<std::int32_t>(), (Indices{0, 1, 2, 4, 4}));
  EXPECT_EQ(adj.out_edge.to_vector<std::int32_t>(), (Indices{2, 0, 1, 3}));
}

TEST(MakeAdjacency, TakesGraphsWithoutEdges) {
  const auto device = make_cpu_device();
  EXPECT_EQ(make_adjacency({}, {}, 0, *device).nodes(), 0);
  EXPECT_EQ(make_adjacency({}, {}, 3, *device).row_ptr.to_vector<std::int32_t>(),
            (Indices{0, 0, 0, 0}));
}

TEST(MakeAdjacency, NamesTheEdgeThatDoesNotFit) {
  const auto device = make_cpu_device();
  const auto refusal = [&](const Indices& src, const Indices& dst) {
    return error_text<ShapeError>([&] { make_adjacency(src, dst, 2, *device); });
  };
  EXPECT_TRUE(says(refusal({0}, {0, 1}), {"1 sources and 2 destinations"}));
  EXPECT_TRUE(says(refusal({0, 2}, {0, 1}), {"edge 1", "2 to 1", "2 nodes"}));
  EXPECT_TRUE(says(refusal({0, 1}, {-1, 1}), {"edge 0", "0 to -1"}));
  EXPECT_TRUE(says(refusal({0, 1}, {1, 0}), {"edge 1", "sort the edges"}));
}

}  // namespace
}  // namespace moiety
