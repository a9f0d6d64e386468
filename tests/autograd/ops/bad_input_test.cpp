// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "autograd/ops/gather.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/message_passing.h"
#include "autograd/ops/segment.h"
#include "autograd/ops/test_graph.h"
#include "support/error_text.h"

namespace moiety::testing {
namespace {

class BadInput : public ::testing::Test {
 protected:
  Variable matrix(std::int64_t rows, std::int64_t columns) {
    return Variable(Tensor::zeros({rows, columns}, DType::f32, *device_));
  }
  Variable vector(std::int64_t n, DType dtype = DType::f32) {
    return Variable(Tensor::zeros({n}, dtype, *device_));
  }
  Tensor index(const std::vector<std::int32_t>& values) { return index_tensor(values, *device_); }

  std::unique_ptr<Device> device_ = make_cpu_device(1);
};

TEST_F(BadInput, SegmentsMustAscendFromZeroToTheNumberOfRows) {
  const Variable x = matrix(5, 3);
  const auto sum = [&](const std::vector<std::int32_t>& ptr) {
    return error_text<ShapeError>([&] { ops::segment_sum(x, index(ptr)); });
  };
  EXPECT_TRUE(says(sum({0, 4, 2, 5}), {"segment_sum: ptr", "ptr[1] = 4", "ptr[2] = 2", "ascend"}));
  EXPECT_TRUE(says(sum({1, 5}), {"segment_sum: ptr[0] is 1"}));
  EXPECT_TRUE(says(sum({0, 3, 4}), {"segment_sum: ptr[2] is 4", "rows, 5"}));
  EXPECT_TRUE(says(sum({}), {"[M+1]"}));
  EXPECT_TRUE(says(error_text<ShapeError>([&] {
                     ops::segment_broadcast(x, index({0, 1, 2}), 2);
                   }),
                   {"segment_broadcast", "5 rows", "3 entries"}));
  EXPECT_TRUE(says(error_text<ShapeError>([&] {
                     ops::segment_max(vector(5), index({0, 5}));
                   }),
                   {"segment_max", "[N, C]"}));
  EXPECT_TRUE(
      says(error_text<DTypeError>([&] { ops::segment_sum(x, vector(2, DType::i64).data()); }),
           {"i32", "i64"}));
}

TEST_F(BadInput, GatherNamesThePlaceOfAnIndex) {
  const Variable x = matrix(3, 2);
  EXPECT_TRUE(says(error_text([&] {
                     ops::gather(x, index({0, 3}), index({0, 1, 1, 2}), index({0, 1}));
                   }),
                   {"gather: index[1] is 3", "[0, 3)"}));
  EXPECT_TRUE(says(error_text([&] {
                     ops::gather(x, index({0, -1}), index({0, 1, 1, 2}), index({0, 1}));
                   }),
                   {"gather: index[1] is -1"}));
  EXPECT_TRUE(
      says(error_text([&] {
             ops::scatter_sum(matrix(2, 2), index({0, 2}), index({0, 1, 1, 2}), index({0, 7}));
           }),
           {"scatter_sum: order[1] is 7"}));
  EXPECT_TRUE(says(error_text<ShapeError>([&] {
                     ops::gather(x, index({0, 1}), index({0, 1, 2}), index({0, 1}));
                   }),
                   {"gather", "ptr has 3 entries", "3 rows"}));
}

TEST_F(BadInput, EmbeddingNamesRowFeatureAndValue) {
  const Variable table = matrix(5, 4);
  const auto embed = [&](const std::vector<std::int32_t>& values, std::int64_t features) {
    const Tensor t = Tensor::from(
        values, {static_cast<std::int64_t>(values.size()) / features, features}, *device_);
    return error_text([&] { ops::embedding_sum(table, t, {3, 2}); });
  };
  EXPECT_TRUE(says(embed({0, 0, 2, 2}, 2), {"row 1", "feature 1", "value 2", "[0, 2)"}));
  EXPECT_TRUE(says(embed({-1, 0}, 2), {"row 0", "feature 0", "value -1"}));
  EXPECT_TRUE(says(embed({0, 0, 0}, 3), {"[N, 2]", "[1, 3]"}));
  EXPECT_TRUE(says(error_text<ShapeError>([&] {
                     ops::embedding_sum(matrix(4, 4), index({0, 0}).reshape({1, 2}), {3, 2});
                   }),
                   {"the table must be [5, C]"}));
}

TEST_F(BadInput, MessagePassingChecksTheGraph) {
  const Variable x = matrix(3, 2);
  const Adjacency good = TestGraph{3, {1, 0}, {0, 2}}.on(*device_);
  const auto sum = [&](const Adjacency& adj) {
    return error_text([&] { ops::neighbor_sum(x, adj, {}, {}); });
  };
  EXPECT_EQ(sum(good), "nothing was thrown");
  Adjacency bad = good;
  bad.src = index({1, 3});
  EXPECT_TRUE(says(sum(bad), {"adjacency: src[1] is 3", "[0, 3)"}));
  bad = good;
  bad.out_edge = index({0, 2});
  EXPECT_TRUE(says(sum(bad), {"adjacency: out_edge[1] is 2"}));
  bad = good;
  bad.row_ptr = index({0, 2, 1, 2});
  EXPECT_TRUE(says(sum(bad), {"adjacency: row_ptr", "row_ptr[1] = 2"}));
  bad = good;
  bad.dst = index({0});
  EXPECT_TRUE(says(sum(bad), {"adjacency", "one length"}));
  EXPECT_TRUE(says(error_text<ShapeError>([&] { ops::neighbor_sum(matrix(4, 2), good, {}, {}); }),
                   {"neighbor_sum", "[3, C]", "[4, 2]"}));
  EXPECT_TRUE(says(error_text<ShapeError>([&] { ops::neighbor_sum(x, good, vector(3), {}); }),
                   {"edge_weight must be [2]"}));
  EXPECT_TRUE(
      says(error_text<DTypeError>([&] { ops::neighbor_sum(x, good, {}, vector(3, DType::f64)); }),
           {"self_weight is f64"}));
  EXPECT_TRUE(
      says(error_text<ShapeError>([&] { ops::relu_message_sum(x, matrix(3, 2), good, Tensor()); }),
           {"edge has 3 rows for 2 edges"}));
  EXPECT_TRUE(says(error_text([&] {
                     ops::relu_message_sum(x, matrix(3, 2), good, index({0, 3}));
                   }),
                   {"relu_message_sum: row[1] is 3", "[0, 3)"}));
}

TEST_F(BadInput, ProductsNameBothShapes) {
  EXPECT_TRUE(says(error_text<ShapeError>([&] { ops::matmul(matrix(2, 3), matrix(2, 3)); }),
                   {"matmul", "[2, 3] times [2, 3]"}));
  EXPECT_TRUE(
      says(error_text<ShapeError>([&] { ops::matmul(matrix(2, 3), matrix(2, 3), true, true); }),
           {"transposed"}));
  EXPECT_TRUE(says(error_text<ShapeError>([&] { ops::matmul(vector(3), vector(3)); }), {"[3]"}));
  EXPECT_TRUE(says(error_text<ShapeError>([&] { ops::linear(matrix(2, 3), matrix(4, 2), {}); }),
                   {"linear", "[2, 3]", "[4, 2]"}));
  EXPECT_TRUE(
      says(error_text<ShapeError>([&] { ops::linear(matrix(2, 3), matrix(4, 3), vector(3)); }),
           {"bias must be [4]"}));
  const Variable f64(Tensor::zeros({3, 2}, DType::f64, *device_));
  EXPECT_TRUE(
      says(error_text<DTypeError>([&] { ops::matmul(matrix(2, 3), f64); }), {"f32", "f64"}));
}

}  // namespace
}  // namespace moiety::testing
