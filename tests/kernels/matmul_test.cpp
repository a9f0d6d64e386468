// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "kernels/elementwise.h"
#include "support/devices.h"
#include "support/error_text.h"
#include "tensor/tensor.h"

namespace moiety::kernels {
namespace {

std::atomic<std::uintptr_t> stack_begin{0};
std::atomic<std::uintptr_t> stack_end{0};
std::atomic<int> handled{0};
std::atomic<int> handled_elsewhere{0};

void note_the_stack(int) {
  const int here = 0;
  const auto at = reinterpret_cast<std::uintptr_t>(&here);
  ++handled;
  if (at < stack_begin || at >= stack_end) ++handled_elsewhere;
}

void find_the_stack() {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
  void* begin = nullptr;
  std::size_t size = 0;
  ASSERT_EQ(pthread_attr_getstack(&attributes, &begin, &size), 0);
  pthread_attr_destroy(&attributes);
  stack_begin = reinterpret_cast<std::uintptr_t>(begin);
  stack_end = stack_begin + size;
}

TEST(Gemm, SignalHandlersNeverRunOnAForeignStack) {
  find_the_stack();
  struct sigaction action = {};
  struct sigaction before = {};
  action.sa_handler = note_the_stack;
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  const auto device = make_cpu_device(1);
  const Tensor a = Tensor::zeros({128, 512}, DType::f32, *device);
  const Tensor b = Tensor::zeros({512, 128}, DType::f32, *device);
  const Tensor c = Tensor::zeros({128, 128}, DType::f32, *device);
  const pthread_t self = pthread_self();
  std::atomic<bool> done{false};
  std::thread sender([&] {
    while (!done) {
      const int seen = handled;
      pthread_kill(self, SIGUSR1);
      while (!done && handled == seen) std::this_thread::yield();
    }
  });
  while (handled < 500) gemm(device->stream(), false, false, 1.0, a, b, 0.0, c);
  done = true;
  sender.join();
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(handled_elsewhere, 0) << "of " << handled;
}

// 1 + 2^-12 is no number of tf32; in f32 all of these sums are exact.
TEST(Gemm, RoundsToTf32WhereItMay) {
  for (int index = 0; index < cuda_status().count; ++index) {
    const auto device = make_cuda_device(index, 1);
    const Shape shape{64, 64};
    const Tensor a = Tensor::from(std::vector<float>(64 * 64, 1 + 0x1p-12f), shape, *device);
    const Tensor b = Tensor::from(std::vector<float>(64 * 64, 1.0f), shape, *device);
    const Tensor c = Tensor::zeros(shape, DType::f32, *device);
    gemm(device->stream(), false, false, 1.0, a, b, 0.0, c);
    EXPECT_EQ(c.to_vector<float>().front(), 64 + 0x1p-6f);
    device->set_fast_products(true);
    gemm(device->stream(), false, false, 1.0, a, b, 0.0, c);
    EXPECT_EQ(c.to_vector<float>().front(), 64.0f);
  }
}

// Odd sums beyond what a half can say.
TEST(Gemm, AddsHalvesUpInF32WhereItMay) {
  for (const std::string& name : testing::devices()) {
    const auto device = name == "cpu" ? make_cpu_device(2) : make_cuda_device(0, 1);
    for (const DType dtype : {DType::bf16, DType::f16}) {
      const std::int64_t depth = dtype == DType::bf16 ? 257 : 2049;
      for (const std::int64_t width : {1, 5, 64}) {
        const Tensor a = Tensor::empty({depth, 3}, dtype, *device);
        const Tensor b = Tensor::empty({depth, width}, dtype, *device);
        fill(device->stream(), a, 1);
        fill(device->stream(), b, 1);
        const Tensor c = Tensor::empty({3, width}, DType::f32, *device);
        fill(device->stream(), c, 0.25);
        gemm(device->stream(), true, false, 1.0, a, b, 1.0, c);
        const std::vector<float> sums(static_cast<std::size_t>(3 * width),
                                      static_cast<float>(depth) + 0.25f);
        EXPECT_EQ(c.to_vector<float>(), sums) << name << " " << name_of(dtype) << " " << width;
        const DType other = dtype == DType::bf16 ? DType::f16 : DType::bf16;
        for (const DType refused : {other, DType::f64}) {
          const Tensor d = Tensor::zeros({3, width}, refused, *device);
          EXPECT_TRUE(testing::says(testing::error_text<DTypeError>([&] {
                                      gemm(device->stream(), true, false, 1.0, a, b, 0.0, d);
                                    }),
                                    {name_of(dtype), name_of(refused)}));
        }
      }
    }
  }
}

}  // namespace
}  // namespace moiety::kernels
