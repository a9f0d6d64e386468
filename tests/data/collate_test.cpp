// SPDX-License-Identifier: Apache-2.0
#include "data/collate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/dataset_files.h"

namespace moiety::data {
namespace {

using namespace moiety::testing;  // NOLINT: helpers of the tests
using Integers = std::vector<std::int32_t>;

/// A batch as plain vectors, made one molecule and one edge at a time.
struct PlainBatch {
  Integers x, row_ptr, src, dst, out_ptr, out_edge, attr, graph_ptr = {0};
  std::vector<float> y;
};

PlainBatch plain_collate(const std::vector<MoleculeRecord>& molecules,
                         const std::vector<std::int64_t>& rows) {
  PlainBatch out;
  std::int32_t nodes = 0;
  for (const std::int64_t row : rows) {
    const MoleculeRecord& m = molecules[static_cast<std::size_t>(row)];
    out.x.insert(out.x.end(), m.x.begin(), m.x.end());
    out.attr.insert(out.attr.end(), m.edge_attr.begin(), m.edge_attr.end());
    for (const auto s : m.edge_src) out.src.push_back(s + nodes);
    for (const auto d : m.edge_dst) out.dst.push_back(d + nodes);
    for (const auto y : m.y) out.y.push_back(static_cast<float>(y));
    nodes += static_cast<std::int32_t>(m.z.size());
    out.graph_ptr.push_back(nodes);
  }
  out.row_ptr.push_back(0);
  out.out_ptr.push_back(0);
  for (std::int32_t node = 0; node < nodes; ++node) {
    for (std::size_t e = 0; e < out.src.size(); ++e) {
      if (out.src[e] == node) out.out_edge.push_back(static_cast<std::int32_t>(e));
    }
    out.row_ptr.push_back(out.row_ptr.back() +
                          static_cast<std::int32_t>(std::ranges::count(out.dst, node)));
    out.out_ptr.push_back(static_cast<std::int32_t>(out.out_edge.size()));
  }
  return out;
}

void expect_same_floats(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])));
  }
}

void expect_batch(const GraphBatch& batch, const PlainBatch& plain) {
  EXPECT_EQ(batch.x.to_vector<std::int32_t>(), plain.x);
  EXPECT_EQ(batch.adj.row_ptr.to_vector<std::int32_t>(), plain.row_ptr);
  EXPECT_EQ(batch.adj.src.to_vector<std::int32_t>(), plain.src);
  EXPECT_EQ(batch.adj.dst.to_vector<std::int32_t>(), plain.dst);
  EXPECT_EQ(batch.adj.out_ptr.to_vector<std::int32_t>(), plain.out_ptr);
  EXPECT_EQ(batch.adj.out_edge.to_vector<std::int32_t>(), plain.out_edge);
  EXPECT_EQ(batch.edge_attr.to_vector<std::int32_t>(), plain.attr);
  EXPECT_EQ(batch.graph_ptr.to_vector<std::int32_t>(), plain.graph_ptr);
  expect_same_floats(batch.y.to_vector<float>(), plain.y);
}

class Collate : public ::testing::Test {
 protected:
  Collate() {
    write_dataset(path_, molecules_);
    dataset_.emplace(path_);
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "a.h5";
  std::vector<MoleculeRecord> molecules_ = random_molecules(200, 1);
  std::optional<Dataset> dataset_;
  std::unique_ptr<Device> device_ = make_cpu_device(1);
};

TEST_F(Collate, EqualsPlainReference) {
  const std::vector<std::vector<std::int64_t>> batches = {
      {0}, {1}, {1, 1, 0}, {199, 3, 1, 0, 77, 3}, {}, simple_splits(200).train};
  for (const auto& rows : batches) {
    const GraphBatch batch = collate(*dataset_, rows, *device_);
    expect_batch(batch, plain_collate(molecules_, rows));
    EXPECT_EQ(batch.x.shape(), (Shape{batch.nodes(), 3}));
    EXPECT_EQ(batch.edge_attr.shape(), (Shape{batch.edges(), 2}));
    EXPECT_EQ(batch.y.shape(), (Shape{std::ssize(rows), 2}));
    EXPECT_EQ(batch.graphs(), std::ssize(rows));
    EXPECT_EQ(batch.index.to_vector<std::int64_t>(), rows);
  }
}

TEST_F(Collate, PartsEqualWhole) {
  Dice dice(2);
  std::vector<std::int64_t> rows;
  for (int i = 0; i < 150; ++i) rows.push_back(dice.below(200));
  for (const std::int64_t nodes_per_part : {1, 40, 100, 333, 100000}) {
    std::int64_t first_graph = 0, first_node = 0;
    for (const GraphBatch& part : collate_parts(*dataset_, rows, nodes_per_part, *device_)) {
      EXPECT_EQ(part.first_graph, first_graph);
      EXPECT_EQ(part.first_node, first_node);
      ASSERT_GT(part.graphs(), 0);
      const auto begin = rows.begin() + first_graph;
      const std::vector<std::int64_t> own(begin, begin + part.graphs());
      expect_batch(part, plain_collate(molecules_, own));
      EXPECT_EQ(part.index.to_vector<std::int64_t>(), own);
      EXPECT_LE(part.nodes(), nodes_per_part + 2 * 12) << "a part ends with a whole molecule";
      first_graph += part.graphs();
      first_node += part.nodes();
    }
    EXPECT_EQ(first_graph, 150);
  }
}

TEST_F(Collate, RecordsEqualDataset) {
  const auto from_memory = collate_parts(molecules_, test_features(), 1000, 300, *device_);
  std::vector<std::int64_t> rows(200);
  std::iota(rows.begin(), rows.end(), 0);
  const auto from_file = collate_parts(*dataset_, rows, 300, *device_);
  ASSERT_EQ(from_memory.size(), from_file.size());
  for (std::size_t p = 0; p < from_file.size(); ++p) {
    EXPECT_EQ(from_memory[p].x.to_vector<std::int32_t>(), from_file[p].x.to_vector<std::int32_t>());
    EXPECT_EQ(from_memory[p].adj.out_edge.to_vector<std::int32_t>(),
              from_file[p].adj.out_edge.to_vector<std::int32_t>());
    expect_same_floats(from_memory[p].y.to_vector<float>(), from_file[p].y.to_vector<float>());
    EXPECT_EQ(from_memory[p].index.to_vector<std::int64_t>()[0], 1000 + from_file[p].first_graph);
  }
}

TEST_F(Collate, BadRequestsAreErrors) {
  EXPECT_THROW(collate(*dataset_, std::vector<std::int64_t>{200}, *device_), ShapeError);
  EXPECT_THROW(collate(*dataset_, std::vector<std::int64_t>{0, -1}, *device_), ShapeError);
  EXPECT_THROW(collate_parts(*dataset_, std::vector<std::int64_t>{0}, -1, *device_), ShapeError);
  const Dataset mapped(path_, /*most_in_memory=*/0);
  EXPECT_NO_THROW(collate(mapped, std::vector<std::int64_t>{0}, *device_));
  std::filesystem::resize_file(path_, 4096);
  EXPECT_THROW(collate(mapped, std::vector<std::int64_t>{0}, *device_), IoError);
  EXPECT_NO_THROW(collate(*dataset_, std::vector<std::int64_t>{0}, *device_));
}

}  // namespace
}  // namespace moiety::data
