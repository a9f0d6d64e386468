// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "autograd/ops/gather.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/message_passing.h"
#include "autograd/ops/segment.h"
#include "autograd/ops/test_graph.h"
#include "support/op_case.h"

// Gradients at sizes that are cut into several tasks, too large for finite differences: the same
// bits on any number of threads.
namespace moiety::testing {
namespace {

OpCase case_of(const std::vector<Shape>& inputs, std::function<Variable(const Variables&)> run) {
  OpCase c;
  c.inputs = inputs;
  c.run = [run = std::move(run)](const Variables& in) -> Variables { return {run(in)}; };
  return c;
}

TEST(LargeGradients, Linear) {
  EXPECT_EQ(check_thread_invariance(case_of({{4200, 48}, {40, 48}, {40}},
                                            [](const Variables& in) {
                                              return ops::linear(in[0], in[1], in[2],
                                                                 ops::Epilogue::relu);
                                            })),
            "");
}

TEST(LargeGradients, Embedding) {
  const std::vector<std::int32_t> dims = {119, 5, 12};
  std::vector<std::int32_t> index;
  for (std::int32_t draw : random_index(9000, 1000, 7)) {
    index.push_back(draw % dims[index.size() % dims.size()]);
  }
  EXPECT_EQ(check_thread_invariance(
                case_of({{136, 100}},
                        [&](const Variables& in) {
                          const Tensor t = Tensor::from(index, {3000, 3}, in[0].device());
                          return ops::embedding_sum(in[0], t, dims);
                        })),
            "");
}

TEST(LargeGradients, MessagePassing) {
  const TestGraph graph = random_graph(1500, 4000, 31);
  const std::vector<std::int32_t> row = random_index(4000, 60, 32);
  EXPECT_EQ(check_thread_invariance(case_of({{1500, 100}, {4000}, {1500}},
                                            [&](const Variables& in) {
                                              return ops::neighbor_sum(
                                                  in[0], graph.on(in[0].device()), in[1], in[2]);
                                            })),
            "");
  EXPECT_EQ(check_thread_invariance(case_of({{1500, 100}, {60, 100}},
                                            [&](const Variables& in) {
                                              Device& device = in[0].device();
                                              return ops::relu_message_sum(
                                                  in[0], in[1], graph.on(device),
                                                  index_tensor(row, device));
                                            })),
            "");
}

TEST(LargeGradients, Segments) {
  std::vector<std::int32_t> ptr = {0};
  for (std::int32_t size : random_index(300, 40, 33)) ptr.push_back(ptr.back() + size);
  for (const auto operation :
       {ops::segment_sum, ops::segment_mean, ops::segment_max, ops::segment_softmax}) {
    EXPECT_EQ(check_thread_invariance(case_of({{ptr.back(), 40}},
                                              [&](const Variables& in) {
                                                return operation(in[0],
                                                                 index_tensor(ptr, in[0].device()));
                                              })),
              "");
  }
}

}  // namespace
}  // namespace moiety::testing
