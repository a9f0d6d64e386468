// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kernels/gather.h"
#include "tensor/tensor.h"

// Rows of more columns than a GPU takes blocks in the second dimension of a grid.
namespace moiety::kernels {
namespace {

constexpr std::int64_t kColumns = 65535 * 32 + 77;

class WideRows : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda_status().count == 0) GTEST_SKIP() << "no GPU";
    device_ = make_cuda_device(0, 1);
    for (std::int64_t c = 0; c < kColumns; ++c) values_.push_back(static_cast<float>(c % 1009));
    row_ = Tensor::from(values_, {1, kColumns}, *device_);
    index_ = Tensor::from(std::vector<std::int32_t>{0}, {1, 1}, *device_);
    out_ = Tensor::zeros({1, kColumns}, DType::f32, *device_);
  }

  std::unique_ptr<Device> device_;
  std::vector<float> values_;
  Tensor row_, index_, out_;
};

TEST_F(WideRows, AreGathered) {
  gather(device_->stream(), row_, index_.reshape({1}), out_);
  EXPECT_TRUE(out_.to_vector<float>() == values_);
}

TEST_F(WideRows, AreSummedIntoATable) {
  embedding_sum_backward(device_->stream(), row_, index_, {1}, out_);
  EXPECT_TRUE(out_.to_vector<float>() == values_);
}

}  // namespace
}  // namespace moiety::kernels
