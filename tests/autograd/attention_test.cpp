// SPDX-License-Identifier: Apache-2.0
#include "autograd/ops/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "autograd/attention_case.h"
#include "autograd/engine.h"
#include "autograd/gradcheck.h"
#include "autograd/ops/elementwise.h"
#include "support/devices.h"
#include "support/error_text.h"
#include "tensor/rng.h"

namespace moiety {
namespace {

using namespace testing::attention;  // NOLINT: the file is about it

/// One output row after the other, from the definition.
Numbers reference(const Case& c, const std::vector<Numbers>& x) {
  const ops::AttentionOptions options = options_of(c);
  const Lengths keys = keys_of(c);
  const double scale = 1 / std::sqrt(static_cast<double>(c.width));
  const auto at = [&](const Numbers& t, std::int64_t token, std::int64_t heads, std::int64_t h,
                      std::int64_t d) {
    return t[static_cast<std::size_t>((token * heads + h) * c.width + d)];
  };
  const auto bias_at = [&](std::size_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
    if (c.bias.ndim() == 0) return 0.0;
    std::int64_t place = 0;
    const std::int64_t index[] = {static_cast<std::int64_t>(b), h, i, j};
    for (int d = 0; d < 4; ++d) place = place * c.bias[d] + (c.bias[d] == 1 ? 0 : index[d]);
    return x[3][static_cast<std::size_t>(place)];
  };
  Numbers out;
  std::int64_t first_query = 0;
  std::int64_t first_key = 0;
  for (std::size_t b = 0; b < c.queries.size(); ++b) {
    for (std::int64_t i = 0; i < c.queries[b]; ++i) {
      for (std::int64_t h = 0; h < c.heads; ++h) {
        const std::int64_t g = h / (c.heads / c.key_heads);
        const std::int64_t seen =
            c.causal ? std::clamp<std::int64_t>(i + 1 + keys[b] - c.queries[b], 0, keys[b])
                     : keys[b];
        Numbers scores;
        for (std::int64_t j = 0; j < seen; ++j) {
          double dot = 0;
          for (std::int64_t d = 0; d < c.width; ++d) {
            dot += at(x[0], first_query + i, c.heads, h, d) *
                   at(x[1], first_key + j, c.key_heads, g, d);
          }
          scores.push_back(scale * dot + bias_at(b, h, i, j));
        }
        double top = kMinusInfinity;
        for (const double s : scores) top = std::max(top, s);
        double total = 0;
        for (const double s : scores) total += top == kMinusInfinity ? 0 : std::exp(s - top);
        Numbers row(static_cast<std::size_t>(c.width));
        for (std::int64_t j = 0; j < seen && total > 0; ++j) {
          double weight = std::exp(scores[static_cast<std::size_t>(j)] - top) / total;
          if (c.dropout > 0) {
            const auto query = static_cast<std::uint64_t>(first_query + i);
            const std::uint64_t row_number =
                (options.first + query) * static_cast<std::uint64_t>(c.heads) +
                static_cast<std::uint64_t>(h);
            const bool drops =
                random_uniform(options.key, row_number * 300 + static_cast<std::uint64_t>(j)) <
                c.dropout;
            weight = drops ? 0 : weight / (1 - c.dropout);
          }
          for (std::int64_t d = 0; d < c.width; ++d) {
            row[static_cast<std::size_t>(d)] += weight * at(x[2], first_key + j, c.key_heads, g, d);
          }
        }
        out.insert(out.end(), row.begin(), row.end());
      }
    }
    first_query += c.queries[b];
    first_key += keys[b];
  }
  return out;
}

void expect_near(const Tensor& got, const Numbers& expected, double tolerance) {
  const auto compare = [&](const auto& values) {
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(static_cast<double>(values[i]), expected[i], tolerance) << i;
    }
  };
  got.dtype() == DType::f64 ? compare(got.to_vector<double>()) : compare(got.to_vector<float>());
}

class Attention : public ::testing::TestWithParam<std::tuple<std::string, Case>> {
 protected:
  const Case& the_case() const { return std::get<1>(GetParam()); }

  std::unique_ptr<Device> device_ = make_device(std::get<0>(GetParam()), 2);
};

TEST_P(Attention, MatchesItsDefinition) {
  const Case& c = the_case();
  std::vector<Numbers> values;
  for (const Shape& shape : shapes_of(c)) values.push_back(random_numbers(shape, values.size()));
  expect_near(run(c, make_inputs(c, DType::f64, *device_)).data(), reference(c, values), 1e-12);
  expect_near(run(c, make_inputs(c, DType::f32, *device_)).data(), reference(c, values), 2e-6);
}

TEST_P(Attention, GradientsMatchDifferences) {
  const Case& c = the_case();
  if (sum(c.queries) > 40 || device_->is_cuda()) return;  // the next test has those
  const auto f = [&](const Variables& x) { return Variables{run(c, x)}; };
  EXPECT_EQ(autograd::gradcheck(f, make_inputs(c, DType::f64, *device_)), "");
}

/// Large cases: along one direction for each input.
TEST_P(Attention, GradientsMatchADirection) {
  const Case& c = the_case();
  const Variables x = make_inputs(c, DType::f64, *device_);
  const Variable out = run(c, x);
  const Numbers weights = random_numbers(out.shape(), 77);
  const Variables grads =
      autograd::grad({out}, x, {Variable(Tensor::from(weights, out.shape(), *device_))});
  const auto projected = [&](const Variables& inputs) {
    const auto values = run(c, inputs).data().to_vector<double>();
    return std::inner_product(values.begin(), values.end(), weights.begin(), 0.0);
  };
  for (std::size_t input = 0; input < x.size(); ++input) {
    const Numbers direction = random_numbers(x[input].shape(), 50 + input);
    const auto moved = [&](double by) {
      Variables shifted = x;
      Numbers values = x[input].data().to_vector<double>();
      for (std::size_t i = 0; i < values.size(); ++i) values[i] += by * direction[i];
      shifted[input] = Variable(Tensor::from(values, x[input].shape(), *device_));
      return projected(shifted);
    };
    const double step = 1e-5;
    const double expected = (moved(step) - moved(-step)) / (2 * step);
    const auto gradient = grads[input].data().to_vector<double>();
    const double got = std::inner_product(gradient.begin(), gradient.end(), direction.begin(), 0.0);
    EXPECT_NEAR(got, expected, 1e-7 * (1 + std::abs(expected))) << "input " << input;
  }
}

/// The output and all gradients.
std::vector<float> everything(const Case& c, Device& device) {
  const Variables x = make_inputs(c, DType::f32, device);
  const Variable out = run(c, x);
  std::vector<float> all = out.data().to_vector<float>();
  for (const Variable& g : autograd::grad({out}, x, {Variable(out.data().clone())})) {
    const auto values = g.data().to_vector<float>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

TEST_P(Attention, SameBitsEveryTime) {
  const auto other = make_device(std::get<0>(GetParam()), 3);  // of another number of threads
  EXPECT_EQ(everything(the_case(), *device_), everything(the_case(), *other));
}

TEST_P(Attention, SameInHalves) {
  const Case& c = the_case();
  const std::vector<float> exact = everything(c, *device_);
  for (const DType dtype : {DType::bf16, DType::f16}) {
    Variables x;
    for (const Variable& v : make_inputs(c, DType::f32, *device_)) {
      x.emplace_back(ops::cast(v.detach(), dtype).data(), true);
    }
    const Variable out = run(c, x);
    Variables all = autograd::grad({out}, x, {Variable(out.data().clone())});
    all.insert(all.begin(), out);
    std::size_t place = 0;
    for (const Variable& part : all) {
      const auto values = ops::cast(part.detach(), DType::f32).data().to_vector<float>();
      float largest = 0.1f;
      for (std::size_t i = 0; i < values.size(); ++i) {
        largest = std::max(largest, std::abs(exact[place + i]));
      }
      const float tolerance = (dtype == DType::bf16 ? 0.05f : 0.01f) * largest;
      for (const float value : values) ASSERT_NEAR(value, exact[place++], tolerance);
    }
  }
}

const Case kCases[] = {
    {.name = "one_token", .queries = {1}},
    {.name = "short_ones", .queries = {1, 2, 17, 0, 5}},
    {.name = "causal", .queries = {1, 2, 17, 0, 5}, .causal = true},
    {.name = "around_64", .queries = {63, 64, 65}, .causal = true},
    {.name = "around_the_tile", .queries = {127, 128, 129}, .width = 16},
    {.name = "length_257", .queries = {257, 3}, .heads = 1, .key_heads = 1, .causal = true},
    {.name = "many_keys", .queries = {3, 2}, .keys = {1100, 513}, .heads = 1, .key_heads = 1},
    {.name = "grouped", .queries = {7, 4}, .heads = 6, .key_heads = 2, .causal = true},
    {.name = "one_key_head", .queries = {7, 4}, .heads = 3, .key_heads = 1},
    {.name = "cross", .queries = {3, 8, 0}, .keys = {5, 2, 4}},
    {.name = "causal_with_more_keys", .queries = {3, 2}, .keys = {7, 4}, .causal = true},
    {.name = "causal_sees_nothing", .queries = {6, 3}, .keys = {2, 0}, .causal = true},
    {.name = "dropout", .queries = {9, 6}, .dropout = 0.4},
    {.name = "dropout_causal_long", .queries = {140}, .causal = true, .dropout = 0.1},
    {.name = "bias_full", .queries = {5, 3}, .bias = {2, 2, 5, 5}},
    {.name = "bias_of_pairs", .queries = {5, 3}, .bias = {1, 2, 5, 5}},
    {.name = "bias_of_keys", .queries = {5, 3}, .bias = {2, 1, 1, 6}},
    {.name = "bias_of_queries", .queries = {5, 3}, .bias = {1, 2, 6, 1}},
    {.name = "bias_of_heads", .queries = {5, 3}, .bias = {1, 2, 1, 1}},
    {.name = "bias_of_all",
     .queries = {150},
     .causal = true,
     .dropout = 0.2,
     .bias = {1, 1, 150, 150}},
    {.name = "width_of_one", .queries = {4}, .width = 1},
    {.name = "width_of_128", .queries = {12, 33}, .width = 128},
};

INSTANTIATE_TEST_SUITE_P(All, Attention,
                         ::testing::Combine(::testing::ValuesIn(testing::devices()),
                                            ::testing::ValuesIn(kCases)),
                         [](const auto& each) {
                           return std::get<0>(each.param) + "_" + std::get<1>(each.param).name;
                         });

TEST(AttentionMask, RowsThatSeeNothingAreZero) {
  const auto device = make_cpu_device(1);
  const Case c{.name = {}, .queries = {3}, .bias = {1, 1, 3, 3}};
  Variables x = make_inputs(c, DType::f32, *device);
  auto* const bias = x[3].data().data<float>();
  const float minus_infinity = -std::numeric_limits<float>::infinity();
  std::fill_n(bias + 3, 3, minus_infinity);  // the second query sees no key
  bias[0] = minus_infinity;
  const Variable out = run(c, x);
  const auto values = out.data().to_vector<float>();
  const auto width = static_cast<std::size_t>(c.heads * c.width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_TRUE(std::isfinite(values[i]));
    EXPECT_EQ(values[i] == 0, i / width == 1) << i;
  }
  for (const Variable& g : autograd::grad({out}, x, {Variable(out.data().clone())})) {
    for (const float value : g.data().to_vector<float>()) EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(AttentionInputs, MayBeSlicesOfOneProjection) {
  const auto device = make_cpu_device(1);
  const Case c{.name = {}, .queries = {5, 9}};
  const Variables x = make_inputs(c, DType::f32, *device);
  const std::int64_t columns = c.heads * c.width;
  const Tensor joint = Tensor::empty({14, 3 * columns}, DType::f32, *device);
  for (std::int64_t part = 0; part < 3; ++part) {
    const auto values = x[static_cast<std::size_t>(part)].data().to_vector<float>();
    for (std::int64_t i = 0; i < 14 * columns; ++i) {
      joint.data<float>()[i / columns * 3 * columns + part * columns + i % columns] =
          values[static_cast<std::size_t>(i)];
    }
  }
  Variables parts;
  const Tensor by_heads = joint.reshape({14, 3 * c.heads, c.width});
  for (std::int64_t part = 0; part < 3; ++part) {
    parts.emplace_back(by_heads.slice(1, part * c.heads, (part + 1) * c.heads), true);
  }
  EXPECT_EQ(run(c, parts).data().to_vector<float>(), run(c, x).data().to_vector<float>());
}

TEST(AttentionMemory, GrowsWithTheTokensNotWithTheirPairs) {
  const auto peak = [](const std::string& where, std::int64_t tokens) {
    const auto device = make_device(where, 2);
    const Case c{
        .name = {}, .queries = {tokens}, .heads = 1, .key_heads = 1, .width = 8, .causal = true};
    const Variables x = make_inputs(c, DType::f32, *device);
    const Variable out = run(c, x);
    autograd::grad({out}, x, {Variable(out.data().clone())});
    return static_cast<double>(device->allocator().stats().peak_in_use);
  };
  for (const std::string& where : testing::devices()) {
    const std::int64_t least = where == "cpu" ? 1024 : 96;  // an emulated GPU takes its time
    const double once = peak(where, least);
    const double four_times = peak(where, 4 * least);
    const double sixteen_times = peak(where, 16 * least);
    EXPECT_LT(four_times, 4.5 * once) << where;
    EXPECT_LT(sixteen_times, 4.5 * four_times) << where;
    EXPECT_GT(sixteen_times, 2 * once) << where;  // it is the operands that are measured
  }
}

}  // namespace
}  // namespace moiety
