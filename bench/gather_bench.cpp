// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "kernels/gather.h"
#include "support/suite.h"
#include "tensor/rng.h"

namespace moiety::bench {
namespace {

constexpr double kIndexBytes = sizeof(std::int32_t);

std::string name_of_case(const std::string& name, std::int64_t rows, std::int64_t channels) {
  return "gather/" + name + "/" + std::to_string(rows) + "x" + std::to_string(channels);
}

Tensor index_tensor(Device& device, const std::vector<std::int32_t>& values) {
  return Tensor::from(values, {static_cast<std::int64_t>(values.size())}, device);
}

/// Each row is read `degree` times, by entries near it, as the atoms of a molecule are.
std::vector<std::int32_t> local_index(std::int64_t rows, std::int64_t degree) {
  std::vector<std::int32_t> out;
  for (std::int64_t e = 0; e < rows * degree; ++e) {
    const auto jump =
        static_cast<std::int64_t>(random_below({1, 2}, static_cast<std::uint64_t>(e), 16));
    out.push_back(static_cast<std::int32_t>(std::min(rows - 1, e / degree + jump)));
  }
  return out;
}

void add_rows(Suite& suite, std::int64_t rows, std::int64_t channels, DType dtype) {
  constexpr std::int64_t kDegree = 2;
  const std::int64_t entries = rows * kDegree;
  const auto elements = static_cast<double>((rows + entries) * channels);
  const Work gather{.bytes =
                        bytes_of(dtype) * elements + kIndexBytes * static_cast<double>(entries)};
  suite.add(name_of_case("gather", entries, channels), dtype, gather, [=](Device& device) {
    const Tensor x = make_input(device, {rows, channels}, dtype);
    const Tensor index = index_tensor(device, local_index(rows, kDegree));
    const Tensor out = Tensor::empty({entries, channels}, dtype, device);
    return [=, &device] { kernels::gather(device.stream(), x, index, out); };
  });
  const Work scatter{.bytes = gather.bytes + kIndexBytes * static_cast<double>(rows + 1)};
  suite.add(name_of_case("scatter_sum", entries, channels), dtype, scatter, [=](Device& device) {
    const Tensor values = make_input(device, {entries, channels}, dtype);
    std::vector<std::int32_t> ptr(static_cast<std::size_t>(rows + 1));
    std::vector<std::int32_t> order(static_cast<std::size_t>(entries));
    for (std::size_t n = 0; n < ptr.size(); ++n) ptr[n] = static_cast<std::int32_t>(n * kDegree);
    std::iota(order.begin(), order.end(), 0);
    const Tensor starts = index_tensor(device, ptr);
    const Tensor places = index_tensor(device, order);
    const Tensor out = Tensor::empty({rows, channels}, dtype, device);
    return [=, &device] { kernels::scatter_sum(device.stream(), values, starts, places, out); };
  });
}

/// The atom features of OGB: nine of them, 174 rows of table.
void add_embedding(Suite& suite, std::int64_t rows, std::int64_t channels, DType dtype) {
  const std::vector<std::int32_t> dims = {119, 5, 12, 12, 10, 6, 6, 2, 2};
  const auto features = static_cast<std::int64_t>(dims.size());
  const std::int64_t table_rows = std::accumulate(dims.begin(), dims.end(), std::int64_t{0});
  const Work work{.bytes = bytes_of(dtype) * static_cast<double>((rows + table_rows) * channels) +
                           kIndexBytes * static_cast<double>(rows * features)};
  const auto make_index = [=](Device& device) {
    std::vector<std::int32_t> values;
    for (std::int64_t i = 0; i < rows * features; ++i) {
      const auto draw = random_below({1, 3}, static_cast<std::uint64_t>(i), 4);
      values.push_back(static_cast<std::int32_t>(draw) %
                       dims[static_cast<std::size_t>(i % features)]);
    }
    return Tensor::from(values, {rows, features}, device);
  };
  suite.add(name_of_case("embedding_sum", rows, channels), dtype, work, [=](Device& device) {
    const Tensor table = make_input(device, {table_rows, channels}, dtype);
    const Tensor index = make_index(device);
    const Tensor out = Tensor::empty({rows, channels}, dtype, device);
    return [=, &device] { kernels::embedding_sum(device.stream(), table, index, dims, out); };
  });
  suite.add(name_of_case("embedding_sum_backward", rows, channels), dtype, work,
            [=](Device& device) {
              const Tensor grad = make_input(device, {rows, channels}, dtype);
              const Tensor index = make_index(device);
              const Tensor dtable = Tensor::empty({table_rows, channels}, dtype, device);
              return [=, &device] {
                kernels::embedding_sum_backward(device.stream(), grad, index, dims, dtable);
              };
            });
}

}  // namespace

void add_gather(Suite& suite) {
  const auto rows = [&](std::int64_t n) { return suite.sized(n, 48); };
  for (const DType dtype : suite.dtypes()) {
    add_rows(suite, rows(576), 64, dtype);
    add_rows(suite, rows(50000), 64, dtype);
    if (suite.on_gpu()) add_rows(suite, rows(1 << 20), 64, dtype);
    add_embedding(suite, rows(576), 64, dtype);
    add_embedding(suite, rows(576), 256, dtype);
    add_embedding(suite, rows(9216), 64, dtype);
    if (suite.on_gpu()) add_embedding(suite, rows(1 << 18), 128, dtype);
  }
}

}  // namespace moiety::bench
