// SPDX-License-Identifier: Apache-2.0
#include "kernels/segment.h"
#include "support/suite.h"

namespace moiety::bench {
namespace {

using kernels::SegmentScale;

/// Equal segments of rows, and what the kernels read and write.
struct Operands {
  Operands(Device& device, std::int64_t segments, std::int64_t rows_each, std::int64_t channels,
           DType dtype)
      : x(make_input(device, {segments * rows_each, channels}, dtype)),
        grad(make_input(device, {segments * rows_each, channels}, dtype)),
        out(Tensor::empty({segments * rows_each, channels}, dtype, device)),
        pooled(make_input(device, {segments, channels}, dtype)),
        row(Tensor::empty({segments, channels}, DType::i32, device)) {
    std::vector<std::int32_t> values;
    for (std::int64_t m = 0; m <= segments; ++m) {
      values.push_back(static_cast<std::int32_t>(m * rows_each));
    }
    ptr = Tensor::from(values, {segments + 1}, device);
  }

  Tensor x, grad, out, pooled, row, ptr;
};

void add_segments(Suite& suite, std::int64_t segments, std::int64_t rows_each,
                  std::int64_t channels, DType dtype) {
  const auto whole = static_cast<double>(segments * rows_each * channels);
  const auto pooled = static_cast<double>(segments * channels);
  const auto add = [&](const std::string& name, double elements, double indices,
                       const auto& kernel) {
    const double bytes = bytes_of(dtype) * elements +
                         sizeof(std::int32_t) * (indices + static_cast<double>(segments + 1));
    suite.add("segment/" + name + "/" + std::to_string(segments) + "x" + std::to_string(rows_each) +
                  "x" + std::to_string(channels),
              dtype, {.bytes = bytes}, [=](Device& device) {
                const Operands o(device, segments, rows_each, channels, dtype);
                return [=, &device] { kernel(device.stream(), o); };
              });
  };
  add("mean", whole + pooled, 0, [](const Stream& stream, const Operands& o) {
    kernels::segment_sum(stream, o.x, o.ptr, SegmentScale::by_size, o.pooled);
  });
  add("broadcast", whole + pooled, 0, [](const Stream& stream, const Operands& o) {
    kernels::segment_broadcast(stream, o.pooled, o.ptr, SegmentScale::by_size, o.out);
  });
  add("max", whole + pooled, pooled, [](const Stream& stream, const Operands& o) {
    kernels::segment_max(stream, o.x, o.ptr, o.pooled, o.row);
  });
  add("softmax", 2 * whole, 0, [](const Stream& stream, const Operands& o) {
    kernels::segment_softmax(stream, o.x, o.ptr, o.out);
  });
  add("softmax_backward", 3 * whole, 0, [](const Stream& stream, const Operands& o) {
    kernels::segment_softmax_backward(stream, o.x, o.grad, o.ptr, o.out);
  });
}

}  // namespace

void add_segment(Suite& suite) {
  const auto segments = [&](std::int64_t n) { return suite.sized(n, 4); };
  for (const DType dtype : suite.dtypes()) {
    add_segments(suite, segments(32), 18, 64, dtype);
    add_segments(suite, segments(32), 18, 256, dtype);
    add_segments(suite, segments(512), 18, 64, dtype);
    add_segments(suite, segments(50000), 2, 4, dtype);  // attention over edges, four heads
    if (suite.on_gpu()) add_segments(suite, segments(32768), 18, 64, dtype);
  }
}

}  // namespace moiety::bench
