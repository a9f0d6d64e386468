// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "autograd/engine.h"
#include "autograd/ops/norm.h"
#include "kernels/norm.h"
#include "support/op_case.h"
#include "tensor/rng.h"

// A batch norm over a batch that is padded to a fixed size: what is behind the rows that count
// changes no bit of what comes of them.
namespace moiety::testing {
namespace {

template <class T>
using Values = std::vector<T>;
using Floats = Values<float>;

enum class Where : std::uint8_t { cpu, gpu };

struct Sizes {
  std::int64_t rows;
  std::int64_t padding;
  std::int64_t width;
};

template <class T>
struct Results {
  Values<T> out, dx, dweight, dbias, mean, var;
};

template <class T>
Values<T> drawn(std::int64_t count, std::uint64_t stream) {
  Values<T> out;
  for (std::int64_t i = 0; i < count; ++i) {
    out.push_back(static_cast<T>(3 * random_uniform({5, stream}, static_cast<std::uint64_t>(i))));
  }
  return out;
}

/// [rows + padding, width] with NaN in the padding, which spoils all that it enters.
template <class T>
Tensor padded(const Sizes& s, std::uint64_t stream, Device& device) {
  Values<T> values = drawn<T>(s.rows * s.width, stream);
  values.resize(static_cast<std::size_t>((s.rows + s.padding) * s.width),
                std::numeric_limits<T>::quiet_NaN());
  return Tensor::from(values, {s.rows + s.padding, s.width}, device);
}

Tensor count_of(std::int64_t rows, Device& device) {
  return Tensor::from(std::vector{static_cast<std::int32_t>(rows)}, {1}, device);
}

/// Outputs and gradients of a training pass; `counted` tells it how many rows count.
template <class T>
Results<T> train(const Sizes& s, bool counted, Device& device) {
  const auto vector = [&](std::uint64_t stream) {
    return Tensor::from(drawn<T>(s.width, stream), {s.width}, device);
  };
  const Variables in{Variable(padded<T>(s, 1, device), true), Variable(vector(2), true),
                     Variable(vector(3), true)};
  const ops::BatchNormState state{vector(4), vector(5)};
  const ops::BatchNormOptions options{.rows = counted ? count_of(s.rows, device) : Tensor()};
  const Variable out = ops::batch_norm(in[0], in[1], in[2], state, /*training=*/true, options);
  const Variables grads = autograd::grad({out}, in, {Variable(padded<T>(s, 6, device))});
  const auto values = [](const Tensor& t) { return t.to_vector<T>(); };
  return {values(out.data()),      values(grads[0].data()), values(grads[1].data()),
          values(grads[2].data()), values(state.mean),      values(state.var)};
}

template <class T>
void expect_the_unpadded_bits(const Sizes& s, Device& device) {
  SCOPED_TRACE(concat(s.rows, " and ", s.padding, " of ", s.width, " in ", kDTypeOf<T>));
  const Results<T> expected = train<T>({s.rows, 0, s.width}, false, device);
  Results<T> got = train<T>(s, true, device);
  const auto counted = static_cast<std::size_t>(s.rows * s.width);
  EXPECT_EQ(Values<T>(got.dx.begin() + static_cast<std::ptrdiff_t>(counted), got.dx.end()),
            Values<T>(static_cast<std::size_t>(s.padding * s.width), T(0)));
  got.out.resize(counted);
  got.dx.resize(counted);
  EXPECT_TRUE(got.out == expected.out);
  EXPECT_TRUE(got.dx == expected.dx);
  EXPECT_EQ(got.dweight, expected.dweight);
  EXPECT_EQ(got.dbias, expected.dbias);
  EXPECT_EQ(got.mean, expected.mean);
  EXPECT_EQ(got.var, expected.var);
}

class PaddedBatchNorm : public ::testing::TestWithParam<Where> {
 protected:
  std::unique_ptr<Device> device_ =
      GetParam() == Where::cpu ? make_cpu_device(2) : make_cuda_device(0, 1);
};

TEST_P(PaddedBatchNorm, GivesTheBitsOfTheUnpaddedOne) {
  for (const Sizes& s : std::vector<Sizes>{{2, 1, 1},
                                           {5, 3, 3},
                                           {23, 1, 32},
                                           {23, 400, 8},
                                           {64, 1, 40},
                                           {130, 800, 33},
                                           {300, 25, 64}}) {
    expect_the_unpadded_bits<float>(s, *device_);
    expect_the_unpadded_bits<double>(s, *device_);
  }
}

TEST_P(PaddedBatchNorm, GivesThoseBitsWhereMergingMoreChunksTakesMoreThreads) {
  // In f64: f32 is too coarse to show in which order its sums, which are kept in f64, are merged.
  expect_the_unpadded_bits<double>({600, 2000, 33}, *device_);
}

TEST_P(PaddedBatchNorm, GivesThoseBitsWhereBlocksTakeSeveralChunks) {
  expect_the_unpadded_bits<float>({150, 50, 8191}, *device_);
}

TEST_P(PaddedBatchNorm, HoldsTheNumberOfRowsToThoseThatThereAre) {
  const Tensor x = padded<float>({40, 0, 5}, 1, *device_);
  const auto mean_of = [&](const TensorView& rows) {
    const Tensor mean = Tensor::empty({5}, DType::f32, *device_);
    const Tensor var = Tensor::empty({5}, DType::f32, *device_);
    kernels::column_statistics(device_->stream(), x, mean, var, rows);
    return mean.to_vector<float>();
  };
  EXPECT_EQ(mean_of(count_of(1000, *device_)), mean_of({}));
  for (const float m : mean_of(count_of(-7, *device_))) EXPECT_TRUE(m != m);
}

TEST_P(PaddedBatchNorm, RunningStatisticsNeedTwoRows) {
  const Tensor vector = Tensor::from(Floats{1, 2, 3}, {3}, *device_);
  const Tensor running = Tensor::from(Floats{4, 5, 6}, {3}, *device_);
  for (const std::int64_t rows : {-1, 0, 1}) {
    kernels::update_running_statistics(device_->stream(), 0.1, 40, vector, vector, running, running,
                                       count_of(rows, *device_));
    EXPECT_EQ(running.to_vector<float>(), (Floats{4, 5, 6}));
  }
}

TEST_P(PaddedBatchNorm, RefusesWhatIsNoNumberOfRows) {
  const Variable x(padded<float>({4, 0, 2}, 1, *device_));
  const Variable vector(Tensor::zeros({2}, DType::f32, *device_));
  const ops::BatchNormState state{vector.data(), vector.data()};
  const auto run = [&](const Tensor& rows) {
    ops::batch_norm(x, vector, vector, state, /*training=*/true, {.rows = rows});
  };
  EXPECT_THROW(run(Tensor::zeros({2}, DType::i32, *device_)), ShapeError);
  EXPECT_THROW(run(Tensor::zeros({1}, DType::i64, *device_)), DTypeError);
}

std::vector<Where> devices() {
  return cuda_status().count > 0 ? std::vector{Where::cpu, Where::gpu} : std::vector{Where::cpu};
}

INSTANTIATE_TEST_SUITE_P(All, PaddedBatchNorm, ::testing::ValuesIn(devices()),
                         [](const auto& where) {
                           return where.param == Where::cpu ? "Cpu" : "Gpu";
                         });

}  // namespace
}  // namespace moiety::testing
