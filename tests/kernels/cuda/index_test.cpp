// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "kernels/category.h"
#include "kernels/cuda/both_devices.h"
#include "kernels/gather.h"
#include "kernels/index_check.h"
#include "kernels/message_passing.h"
#include "support/error_text.h"

namespace moiety::kernels {
namespace {

using Index = std::vector<std::int32_t>;

class IndicesOnGpu : public BothDevices {
 protected:
  Tensor index(const Index& values) {
    return Tensor::from(values, {static_cast<std::int64_t>(values.size())}, *gpu_);
  }
  Tensor ones(std::int64_t rows, std::int64_t columns) {
    const auto n = static_cast<std::size_t>(rows * columns);
    return Tensor::from(std::vector<float>(n, 1.0f), {rows, columns}, *gpu_);
  }
  /// What the next synchronisation throws.
  std::string fault() {
    return testing::error_text([&] { gpu_->synchronize(stream_); });
  }

  const Stream& stream_ = gpu_->stream();
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(IndicesOnGpu);
INSTANTIATE_TEST_SUITE_P(Gpu, IndicesOnGpu, first_gpu());

TEST_P(IndicesOnGpu, ManyFeaturesAreThoseOfTheCpu) {
  // More than the parameters of one launch have room for.
  constexpr std::int64_t kRows = 40;
  for (const std::int64_t features : {1, 3, 64, 150}) {
    Index dims;
    for (int f = 0; f < features; ++f) dims.push_back(f < 20 ? 1 + f % 3 : 1 + f % 50 / 49);
    Index values;
    for (std::int64_t i = 0; i < kRows * features; ++i) {
      const double draw = random_uniform({4, 4}, static_cast<std::uint64_t>(i));
      values.push_back(
          static_cast<std::int32_t>(draw * dims[static_cast<std::size_t>(i % features)]));
    }
    const std::int64_t table_rows = std::accumulate(dims.begin(), dims.end(), std::int64_t{0});
    expect_agreement(
        [&](Device& device) -> std::vector<Tensor> {
          const Tensor index = Tensor::from(values, {kRows, features}, device);
          const Tensor number = Tensor::empty({kRows}, DType::i32, device);
          combine_categories(device.stream(), index, dims, number);
          const Tensor table = random_tensor({table_rows, 33}, DType::f64, device);
          const Tensor sum = Tensor::empty({kRows, 33}, DType::f64, device);
          embedding_sum(device.stream(), table, index, dims, sum);
          const Tensor dtable = Tensor::empty({table_rows, 33}, DType::f64, device);
          embedding_sum_backward(device.stream(), sum, index, dims, dtable);
          return {number, sum, dtable};
        },
        1e-12);
  }
}

TEST_P(IndicesOnGpu, ChecksNameThePlace) {
  struct Case {
    Index values;
    std::string expected;
  };
  const Case pointers[] = {
      {{0, 2, 2, 5}, "nothing was thrown"},
      {{1, 2, 5}, "op: ptr[0] is 1, which is not in [0, 1)"},
      {{0, 4, 2, 5}, "op: ptr[1] is 4, which is not in [0, 3)"},
      {{0, 2, 4}, "op: number of rows after ptr[2] is 1, which is not in [0, 1)"},
      {{0, 2, 6}, "op: number of rows after ptr[2] is -1, which is not in [0, 1)"}};
  for (const Case& c : pointers) {
    check_ptr(stream_, index(c.values), 5, "op", "ptr");
    EXPECT_TRUE(testing::says(fault(), {c.expected}));
  }
  const Case indices[] = {{{0, 2, 1}, "nothing was thrown"},
                          {{0, 2, 3}, "op: index[2] is 3, which is not in [0, 3)"},
                          {{-1, 2, 1}, "op: index[0] is -1, which is not in [0, 3)"}};
  for (const Case& c : indices) {
    check_index(stream_, index(c.values), 3, "op", "index");
    EXPECT_TRUE(testing::says(fault(), {c.expected}));
  }
}

TEST_P(IndicesOnGpu, RowsWithBadIndicesAreLeftOut) {
  const Tensor out = Tensor::empty({3, 2}, DType::f32, *gpu_);
  gather(stream_, ones(4, 2), index({3, 4, 0}), out);
  EXPECT_TRUE(testing::says(fault(), {"gather: index[1] is 4", "[0, 4)"}));
  EXPECT_EQ(out.to_vector<float>(), (std::vector<float>{1, 1, 0, 0, 1, 1}));

  scatter_sum(stream_, ones(2, 2), index({0, 1, 1, 2}), index({1, 2}), out);
  EXPECT_TRUE(testing::says(fault(), {"scatter_sum: order[1] is 2"}));
  EXPECT_EQ(out.to_vector<float>(), (std::vector<float>{1, 1, 0, 0, 0, 0}));

  const Tensor categories = index({1, 0, 2, 0, 0, -1}).reshape({3, 2});
  embedding_sum(stream_, ones(4, 2), categories, {2, 2}, out);
  EXPECT_TRUE(testing::says(fault(), {"embedding_sum: index["}));
  EXPECT_EQ(out.to_vector<float>(), (std::vector<float>{2, 2, 1, 1, 1, 1}));

  const Tensor table = Tensor::empty({4, 2}, DType::f32, *gpu_);
  embedding_sum_backward(stream_, ones(3, 2), categories, {2, 2}, table);
  EXPECT_TRUE(testing::says(fault(), {"embedding_sum: index["}));
  EXPECT_EQ(table.to_vector<float>(), (std::vector<float>{1, 1, 1, 1, 2, 2, 0, 0}));

  const Tensor number = Tensor::empty({3}, DType::i32, *gpu_);
  combine_categories(stream_, categories, {2, 2}, number);
  EXPECT_TRUE(testing::says(fault(), {"combine_categories: attr["}));
  EXPECT_EQ(number.to_vector<std::int32_t>(), (Index{2, 0, 0}));
}

TEST_P(IndicesOnGpu, EdgesWithBadIndicesAreLeftOut) {
  // 0 -> 1, 7 -> 1, 1 -> 2: the second starts at no node.
  Adjacency adj{index({0, 0, 2, 3}), index({0, 7, 1}), index({1, 1, 2}), index({0, 1, 2, 3}),
                index({0, 2, 1})};
  const Tensor out = Tensor::empty({3, 2}, DType::f32, *gpu_);
  neighbor_sum(stream_, ones(3, 2), adj, Direction::in, {}, {}, out);
  EXPECT_TRUE(testing::says(fault(), {"adjacency: src[1] is 7", "[0, 3)"}));
  EXPECT_EQ(out.to_vector<float>(), (std::vector<float>{0, 0, 1, 1, 1, 1}));

  const Tensor dot = Tensor::empty({3}, DType::f32, *gpu_);
  edge_dot(stream_, ones(3, 2), ones(3, 2), adj, dot);
  EXPECT_TRUE(testing::says(fault(), {"adjacency: src[1] is 7"}));
  EXPECT_EQ(dot.to_vector<float>(), (std::vector<float>{2, 0, 2}));

  const Tensor rows = index({0, 1, 5});
  relu_message_sum(stream_, ones(3, 2), ones(2, 2), adj, rows, out);
  EXPECT_NE(fault(), "nothing was thrown");
  EXPECT_EQ(out.to_vector<float>(), (std::vector<float>{0, 0, 2, 2, 0, 0}));

  const Tensor dx = Tensor::empty({3, 2}, DType::f32, *gpu_);
  const Tensor dedge = Tensor::empty({2, 2}, DType::f32, *gpu_);
  gated_message_sum_backward(stream_, {ones(3, 2), ones(2, 2), rows}, ones(3, 2), adj, dx, dedge);
  EXPECT_NE(fault(), "nothing was thrown");
  EXPECT_EQ(dedge.to_vector<float>(), (std::vector<float>{1, 1, 0, 0}));

  adj.row_ptr = index({0, 4, 2, 3});
  neighbor_sum(stream_, ones(3, 2), adj, Direction::in, {}, {}, out);
  EXPECT_TRUE(testing::says(fault(), {"adjacency: row_ptr[1] is 4", "[0, 4)"}));
}

}  // namespace
}  // namespace moiety::kernels
