// SPDX-License-Identifier: Apache-2.0
#include "kernels/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/error_text.h"
#include "tensor/rng.h"
#include "tensor/tensor.h"

namespace moiety::kernels {
namespace {

using Values = std::vector<double>;

Values random_values(std::int64_t n, std::uint64_t stream) {
  Values out;
  for (std::int64_t i = 0; i < n; ++i) {
    out.push_back(2 * random_uniform({5, stream}, static_cast<std::uint64_t>(i)) - 1);
  }
  return out;
}

Tensor tensor_of(const Values& values, DType dtype, Device& device) {
  const Shape shape{static_cast<std::int64_t>(values.size())};
  if (dtype == DType::f64) return Tensor::from(values, shape, device);
  return Tensor::from(std::vector<float>(values.begin(), values.end()), shape, device);
}

Values values_of(const Tensor& t) {
  if (t.dtype() == DType::f64) return t.to_vector<double>();
  const auto values = t.to_vector<float>();
  return {values.begin(), values.end()};
}

void expect_near(const Tensor& got, const Values& expected, double tolerance) {
  const Values values = values_of(got);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(values[i], expected[i], tolerance) << "element " << i;
  }
}

double decay_at(const std::vector<DecayRange>& ranges, std::size_t i) {
  const auto at = static_cast<std::int64_t>(i);
  for (const DecayRange& r : ranges) {
    if (r.begin <= at && at < r.end) return r.decay;
  }
  return 0;
}

/// Ranges that begin and end in the middle of vectors and of tasks.
std::vector<DecayRange> ranges_for(std::int64_t n) {
  return {{0, n / 7, 0.1}, {n / 5, n / 2, 0.02}, {n / 2, n / 2, 0.5}, {n / 2 + n / 9, n, 0.3}};
}

struct Adam {
  Values p, m, v;

  void step(const AdamStep& s, const std::vector<DecayRange>& ranges, const Values& gradients) {
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double decay = decay_at(ranges, i);
      double g = gradients[i] * s.gradient_scale;
      if (!s.decoupled_decay) g += decay * p[i];
      if (s.decoupled_decay) p[i] -= s.lr * decay * p[i];
      m[i] = s.beta1 * m[i] + (1 - s.beta1) * g;
      v[i] = s.beta2 * v[i] + (1 - s.beta2) * g * g;
      const double m_hat = m[i] / (1 - std::pow(s.beta1, s.number));
      const double v_hat = v[i] / (1 - std::pow(s.beta2, s.number));
      p[i] -= s.lr * m_hat / (std::sqrt(v_hat) + s.eps);
    }
  }
};

class OptimizerKernels : public ::testing::TestWithParam<std::int64_t> {
 protected:
  std::unique_ptr<Device> device_ = make_cpu_device(2);
  const Stream& stream_ = device_->stream();
};

TEST_P(OptimizerKernels, AdamFollowsItsDefinition) {
  const std::int64_t n = GetParam();
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const bool decoupled : {false, true}) {
      Adam reference{random_values(n, 1), Values(static_cast<std::size_t>(n)),
                     Values(static_cast<std::size_t>(n))};
      const Tensor p = tensor_of(reference.p, dtype, *device_);
      const Tensor m = Tensor::zeros({n}, dtype, *device_);
      const Tensor v = Tensor::zeros({n}, dtype, *device_);
      for (int number = 1; number <= 3; ++number) {
        AdamStep step;
        step.lr = 0.01;
        step.number = number;
        step.gradient_scale = 0.7;
        step.decoupled_decay = decoupled;
        const Values g = random_values(n, 10 + static_cast<std::uint64_t>(number));
        reference.step(step, ranges_for(n), g);
        adam(stream_, step, ranges_for(n), tensor_of(g, dtype, *device_), p, m, v);
      }
      const double tolerance = dtype == DType::f64 ? 1e-13 : 1e-5;
      expect_near(p, reference.p, tolerance);
      expect_near(m, reference.m, tolerance);
      expect_near(v, reference.v, tolerance);
    }
  }
}

TEST_P(OptimizerKernels, SgdFollowsItsDefinition) {
  const std::int64_t n = GetParam();
  for (const bool nesterov : {false, true}) {
    for (const double momentum : {0.0, 0.9}) {
      Values p = random_values(n, 1);
      Values b(static_cast<std::size_t>(n));
      const Tensor parameters = tensor_of(p, DType::f64, *device_);
      const Tensor velocity = Tensor::zeros({n}, DType::f64, *device_);
      for (std::uint64_t number = 0; number < 3; ++number) {
        const Values g = random_values(n, 20 + number);
        for (std::size_t i = 0; i < p.size(); ++i) {
          const double grad = 0.5 * g[i] + decay_at(ranges_for(n), i) * p[i];
          b[i] = momentum * b[i] + grad;
          p[i] -= 0.1 * (nesterov ? grad + momentum * b[i] : b[i]);
        }
        sgd(stream_, {0.1, momentum, nesterov, 0.5}, ranges_for(n),
            tensor_of(g, DType::f64, *device_), parameters,
            momentum == 0 ? TensorView{} : velocity.view());
      }
      expect_near(parameters, p, 1e-13);
    }
  }
}

TEST_P(OptimizerKernels, SquaredNormIsExactEnough) {
  const Values x = random_values(GetParam(), 3);
  const Tensor single = tensor_of(x, DType::f32, *device_);
  double expected = 0;
  for (double value : values_of(single)) expected += value * value;
  EXPECT_NEAR(squared_norm(stream_, single), expected, 1e-12 * (1 + expected));
  EXPECT_NEAR(squared_norm(stream_, tensor_of(x, DType::f64, *device_)), expected,
              1e-6 * (1 + expected));
}

TEST_P(OptimizerKernels, LerpMovesPartOfTheWay) {
  const Values from = random_values(GetParam(), 1);
  Values into = random_values(GetParam(), 2);
  const Tensor t = tensor_of(into, DType::f64, *device_);
  for (std::size_t i = 0; i < into.size(); ++i) into[i] += 0.25 * (from[i] - into[i]);
  lerp(stream_, tensor_of(from, DType::f64, *device_), 0.25, t);
  expect_near(t, into, 1e-15);
}

TEST_P(OptimizerKernels, SameBitsOnAnyNumberOfThreads) {
  const std::int64_t n = GetParam();
  std::vector<Values> results;
  for (const int threads : {1, 3}) {
    const auto device = make_cpu_device(threads);
    const Tensor p = tensor_of(random_values(n, 1), DType::f32, *device);
    const Tensor g = tensor_of(random_values(n, 2), DType::f32, *device);
    const Tensor m = Tensor::zeros({n}, DType::f32, *device);
    const Tensor v = Tensor::zeros({n}, DType::f32, *device);
    adam(device->stream(), {}, ranges_for(n), g, p, m, v);
    Values result = values_of(p);
    result.push_back(squared_norm(device->stream(), p));
    results.push_back(result);
  }
  EXPECT_EQ(results[0], results[1]);
}

INSTANTIATE_TEST_SUITE_P(Sizes, OptimizerKernels,
                         ::testing::Values(0, 1, 31, 32, 33, 16384, 50001));

TEST(OptimizerErrors, NameWhatDoesNotFit) {
  const auto device = make_cpu_device(1);
  const Stream& stream = device->stream();
  const Tensor four = Tensor::zeros({4}, DType::f32, *device);
  const Tensor five = Tensor::zeros({5}, DType::f32, *device);
  EXPECT_TRUE(testing::says(
      testing::error_text<ShapeError>([&] { adam(stream, {}, {}, five, four, four, four); }),
      {"adam", "5", "4"}));
  const std::vector<DecayRange> beyond = {{0, 5, 0.1}};
  EXPECT_TRUE(testing::says(
      testing::error_text<ShapeError>([&] { adam(stream, {}, beyond, four, four, four, four); }),
      {"decay range", "[0, 5)"}));
  const std::vector<DecayRange> crossed = {{2, 4, 0.1}, {1, 2, 0.1}};
  EXPECT_TRUE(testing::says(
      testing::error_text<ShapeError>([&] { adam(stream, {}, crossed, four, four, four, four); }),
      {"out of order"}));
  EXPECT_TRUE(testing::says(testing::error_text<Error>([&] {
                              sgd(stream, {0.1, 0.9, false, 1}, {}, four, four, TensorView{});
                            }),
                            {"momentum", "velocity"}));
  EXPECT_TRUE(testing::says(testing::error_text<ShapeError>([&] { lerp(stream, five, 0.5, four); }),
                            {"lerp"}));
}

TEST(SquaredNorm, CarriesWhatIsNotFinite) {
  const auto device = make_cpu_device(1);
  const Tensor x = tensor_of({1.0, std::numeric_limits<double>::infinity()}, DType::f32, *device);
  EXPECT_FALSE(std::isfinite(squared_norm(device->stream(), x)));
}

}  // namespace
}  // namespace moiety::kernels
