// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/cpu_norm.h"
#include "kernels/cpu_reduce.h"
#include "kernels/optional_view.h"

namespace moiety::kernels::cpu {
namespace {

template <class T>
double sum_of_squares(const T* x, T mean, std::int64_t n) {
  return sum_terms<T>(n, [x, mean](std::int64_t c, auto block) {
    auto square = block;
    block.load(x + c);
    block.subtract(mean);
    square.clear();
    square.add_product(block, block);
    return square;
  });
}

/// What the gradients of a layer norm read. With kRelu the gradient is that behind a ReLU, whose
/// input is computed again as in the forward pass: (x - mean) * rstd * weight + bias.
template <class T, bool kRelu>
struct RowNorm {
  const T* x;
  const T* grad;
  const T* weight;
  const T* bias;
  const T* mean;
  const T* rstd;
  std::int64_t width;

  /// x - mean, from element c of a row.
  template <class Block>
  Block centred(std::int64_t row, std::int64_t c, Block block) const {
    block.load(x + row * width + c);
    block.subtract(mean[row]);
    return block;
  }
  /// The gradient there, where `normal` is (x - mean) * rstd.
  template <class Block>
  Block flow(std::int64_t row, std::int64_t c, const Block& normal) const {
    Block g = normal;
    g.load(grad + row * width + c);
    if constexpr (kRelu) {
      Block gate = normal;
      Block w = normal;
      gate.load(bias + c);
      w.load(weight + c);
      gate.add_product(normal, w);
      g.keep_positive(gate);
    }
    return g;
  }
  template <class Block>
  Block normal(std::int64_t row, std::int64_t c, const Block& block) const {
    Block x_hat = centred(row, c, block);
    x_hat.scale(rstd[row]);
    return x_hat;
  }
  /// gradient * weight.
  template <class Block>
  Block weighted(std::int64_t row, std::int64_t c, const Block& block) const {
    Block product = kRelu ? flow(row, c, normal(row, c, block)) : flow(row, c, block);
    Block w = block;
    w.load(weight + c);
    product.multiply(w);
    return product;
  }
};

template <class T, bool kRelu>
void row_gradient(const RowNorm<T, kRelu>& norm, std::int64_t row, T* dx) {
  const std::int64_t width = norm.width;
  const T* x = norm.x + row * width;
  const T* g = norm.grad + row * width;
  const T* w = norm.weight;
  const T* b = norm.bias;
  const T m = norm.mean[row];
  const T r = norm.rstd[row];
  const double total =
      sum_terms<T>(width, [&](std::int64_t c, auto block) { return norm.weighted(row, c, block); });
  const double moment = sum_terms<T>(width, [&](std::int64_t c, auto block) {
    auto product = norm.weighted(row, c, block);
    product.multiply(norm.centred(row, c, block));
    return product;
  });
  const T shift = static_cast<T>(total / static_cast<double>(width));
  const T slope = static_cast<T>(moment / static_cast<double>(width)) * r * r;
#pragma GCC ivdep
  for (std::int64_t c = 0; c < width; ++c) {
    const T d = x[c] - m;
    T flow = g[c];
    if constexpr (kRelu) flow = d * r * w[c] + b[c] <= T(0) ? T(0) : flow;
    dx[c] = r * (flow * w[c] - shift - d * slope);
  }
}

/// Adds up the gradients of weight (sums[0 .. C]) and bias (the C after it) over rows.
template <class T, bool kRelu>
void column_gradients(const RowNorm<T, kRelu>& norm, std::int64_t begin, std::int64_t end,
                      double* sums) {
  const auto slope = [&norm, begin](std::int64_t r, std::int64_t c, auto block) {
    auto product = norm.normal(begin + r, c, block);
    product.multiply(norm.flow(begin + r, c, product));
    return product;
  };
  const auto flow = [&norm, begin](std::int64_t r, std::int64_t c, auto block) {
    return norm.flow(begin + r, c, kRelu ? norm.normal(begin + r, c, block) : block);
  };
  sum_columns<T>(end - begin, norm.width, slope, sums);
  sum_columns<T>(end - begin, norm.width, flow, sums + norm.width);
}

}  // namespace

void layer_norm(const Stream& stream, double eps, const TensorView& x, const TensorView& weight,
                const TensorView& bias, const TensorView& out, const TensorView& mean,
                const TensorView& rstd, const NormTail& tail) {
  check_norm_rows(x, {&out, &tail.residual});
  const std::int64_t width = x.shape[1];
  check_norm_vectors(width, {&weight, &bias});
  check_norm_vectors(x.shape[0], {&mean, &rstd});
  const auto run = [&]<class T, bool kRelu, bool kResidual> {
    const T* w = weight.as<T>();
    const T* b = bias.as<T>();
    const T* residual = data_or_null<T>(tail.residual);
    parallel_for(stream, x.shape[0], row_grain(width), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        const T* from = x.as<T>() + row * width;
        T* to = out.as<T>() + row * width;
        const double n = static_cast<double>(width);
        const T m = static_cast<T>(sum_row(from, width) / n);
        const T scale = static_cast<T>(1.0 / std::sqrt(sum_of_squares(from, m, width) / n + eps));
#pragma GCC ivdep
        for (std::int64_t c = 0; c < width; ++c) {
          to[c] = apply_tail<kRelu, kResidual>((from[c] - m) * scale * w[c] + b[c], residual,
                                               row * width + c);
        }
        mean.as<T>()[row] = m;
        rstd.as<T>()[row] = scale;
      }
    });
  };
  visit_float(x.dtype, [&]<class T> {
    visit_tail(tail,
               [&]<bool kRelu, bool kResidual> { run.template operator()<T, kRelu, kResidual>(); });
  });
}

void layer_norm_grad(const Stream& stream, const TensorView& grad, const TensorView& x,
                     const TensorView& weight, const TensorView& mean, const TensorView& rstd,
                     const NormGrads& out, const TensorView& relu_bias) {
  check_norm_rows(x, {&grad, &out.x});
  const std::int64_t width = x.shape[1];
  check_norm_vectors(width, {&weight, &out.weight, &out.bias, &relu_bias});
  check_norm_vectors(x.shape[0], {&mean, &rstd});
  const auto run = [&]<class T, bool kRelu> {
    const RowNorm<T, kRelu> norm{
        x.as<T>(),    grad.as<T>(), weight.as<T>(), data_or_null<T>(relu_bias),
        mean.as<T>(), rstd.as<T>(), width};
    T* dx = out.x.as<T>();
    T* dweight = out.weight.as<T>();
    T* dbias = out.bias.as<T>();
    const auto reduce = [&](std::int64_t begin, std::int64_t end, double* sums) {
      for (std::int64_t row = begin; row < end; ++row) row_gradient(norm, row, dx + row * width);
      column_gradients(norm, begin, end, sums);  // reads again what the rows left in cache
    };
    reduce_rows(stream, x.shape[0], width, 2 * width, reduce, [&](std::int64_t k, double total) {
      (k < width ? dweight[k] : dbias[k - width]) = static_cast<T>(total);
    });
  };
  visit_float(x.dtype, [&]<class T> {
    relu_bias.defined() ? run.template operator()<T, true>() : run.template operator()<T, false>();
  });
}

}  // namespace moiety::kernels::cpu
