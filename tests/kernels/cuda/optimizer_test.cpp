// SPDX-License-Identifier: Apache-2.0
#include "kernels/optimizer.h"

#include "kernels/cuda/both_devices.h"

namespace moiety::kernels {
namespace {

class OptimizerOnGpu : public BothDevices {
 protected:
  /// Runs update(stream, ranges, {three arrays}) in f32 and f64, for lengths and alignments that
  /// packs of 16 bytes fit and do not fit, with few ranges and with more than one launch takes.
  template <class Update>
  void expect_same_update(const Update& update) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      for (const std::int64_t n : {0, 1, 32, 1003}) {
        for (const std::int64_t skipped : {0, 1}) {
          for (const auto& ranges : {few_ranges(n), many_ranges(n)}) {
            expect_agreement(
                [&](Device& device) -> std::vector<Tensor> {
                  std::vector<Tensor> arrays;
                  for (std::uint64_t i = 0; i < 3; ++i) {
                    arrays.push_back(random_row(n, skipped, dtype, device, i));
                  }
                  update(device.stream(), ranges, arrays);
                  return arrays;
                },
                dtype == DType::f64 ? 1e-13 : 1e-5);
          }
        }
      }
    }
  }

 private:
  static std::vector<DecayRange> few_ranges(std::int64_t n) {
    return {{0, n / 7, 0.1}, {n / 5, n / 2, 0.02}, {n / 2, n / 2, 0.5}, {n / 2 + n / 9, n, 0.3}};
  }
  /// Of two elements each, with a gap of one.
  static std::vector<DecayRange> many_ranges(std::int64_t n) {
    std::vector<DecayRange> ranges;
    for (std::int64_t i = 0; i + 2 <= n; i += 3) {
      ranges.push_back({i, i + 2, 0.1 * static_cast<double>(1 + i % 7)});
    }
    return ranges;
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OptimizerOnGpu);
INSTANTIATE_TEST_SUITE_P(Gpu, OptimizerOnGpu, first_gpu());

TEST_P(OptimizerOnGpu, AdamIsThatOfTheCpu) {
  for (const bool decoupled : {false, true}) {
    expect_same_update([&](const Stream& stream, const std::vector<DecayRange>& ranges,
                           const std::vector<Tensor>& arrays) {
      AdamStep step;
      step.lr = 0.01;
      step.gradient_scale = 0.7;
      step.decoupled_decay = decoupled;
      arrays[2].fill_zero();
      const Tensor v = arrays[2].clone();
      for (step.number = 1; step.number <= 2; ++step.number) {
        adam(stream, step, ranges, arrays[0], arrays[1], arrays[2], v);
      }
    });
  }
}

TEST_P(OptimizerOnGpu, SgdIsThatOfTheCpu) {
  for (const bool nesterov : {false, true}) {
    for (const double momentum : {0.0, 0.9}) {
      expect_same_update([&](const Stream& stream, const std::vector<DecayRange>& ranges,
                             const std::vector<Tensor>& arrays) {
        sgd(stream, {0.1, momentum, nesterov, 0.5}, ranges, arrays[0], arrays[1],
            momentum == 0 ? TensorView{} : arrays[2].view());
      });
    }
  }
}

TEST_P(OptimizerOnGpu, LerpIsThatOfTheCpu) {
  expect_same_update(
      [](const Stream& stream, const std::vector<DecayRange>&, const std::vector<Tensor>& arrays) {
        lerp(stream, arrays[0], 0.25, arrays[1]);
      });
}

TEST_P(OptimizerOnGpu, SquaredNormIsThatOfTheCpuAtAnyAlignment) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const std::int64_t n : {0, 1, 33, 30001}) {
      const double expected = squared_norm(cpu_->stream(), random_row(n, 0, dtype, *cpu_));
      const Tensor aligned = random_row(n, 0, dtype, *gpu_);
      const Tensor moved = Tensor::empty({n + 1}, dtype, *gpu_).slice(0, 1, n + 1);
      moved.copy_from(aligned);
      const double norm = squared_norm(gpu_->stream(), aligned);
      EXPECT_NEAR(norm, expected, 1e-12 * expected);
      EXPECT_EQ(squared_norm(gpu_->stream(), moved), norm);
    }
  }
}

}  // namespace
}  // namespace moiety::kernels
