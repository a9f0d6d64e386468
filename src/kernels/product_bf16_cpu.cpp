// SPDX-License-Identifier: Apache-2.0
#include "kernels/product.h"

#if defined(MOIETY_HAS_ONEDNN)
#include <compare>
#include <map>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>

#include "kernels/onednn_call.h"
#include "tensor/storage.h"
#endif

namespace moiety::kernels::cpu {

#if defined(MOIETY_HAS_ONEDNN)
namespace {

using dnnl::memory;

/// All that a kernel of oneDNN's is made for.
struct Kind {
  bool transpose_a, transpose_b, f32_result, adds, biased, relu;
  std::int64_t m, n, k, lda, ldb, ldc;
  auto operator<=>(const Kind&) const = default;
};

memory::desc matrix(std::int64_t rows, std::int64_t columns, bool transposed, std::int64_t ld,
                    memory::data_type type) {
  return {{rows, columns}, type, transposed ? memory::dims{1, ld} : memory::dims{ld, 1}};
}

dnnl::primitive_attr attributes(const Kind& kind) {
  dnnl::primitive_attr out;
  out.set_scratchpad_mode(dnnl::scratchpad_mode::user);  // so that threads can share the kernel
  dnnl::post_ops after;
  if (kind.adds) after.append_sum(1.0f);
#if DNNL_VERSION_MAJOR >= 3
  if (kind.relu) after.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
#else
  if (kind.relu) after.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
#endif
  out.set_post_ops(after);
  return out;
}

dnnl::matmul::primitive_desc describe(const Kind& kind, const dnnl::engine& engine) {
  constexpr auto kHalf = memory::data_type::bf16;
  const memory::desc a = matrix(kind.m, kind.k, kind.transpose_a, kind.lda, kHalf);
  const memory::desc b = matrix(kind.k, kind.n, kind.transpose_b, kind.ldb, kHalf);
  const memory::desc c =
      matrix(kind.m, kind.n, false, kind.ldc, kind.f32_result ? memory::data_type::f32 : kHalf);
  const memory::desc bias = matrix(1, kind.n, false, kind.n, kHalf);
#if DNNL_VERSION_MAJOR >= 3
  if (kind.biased) return {engine, a, b, bias, c, attributes(kind)};
  return {engine, a, b, c, attributes(kind)};
#else
  if (kind.biased) return {dnnl::matmul::desc(a, b, bias, c), attributes(kind), engine};
  return {dnnl::matmul::desc(a, b, c), attributes(kind), engine};
#endif
}

/// Kernels by kind, as making one takes longer than many products. Products of the same kind run on
/// several threads at once.
class Kernels {
 public:
  struct Kernel {
    dnnl::matmul::primitive_desc about;
    dnnl::matmul run;
  };

  /// None where oneDNN has no kernel of the kind for this processor.
  std::optional<Kernel> find(const Kind& kind) {
    const std::lock_guard lock(mutex_);
    const auto found = kernels_.find(kind);
    if (found != kernels_.end()) return found->second;
    if (kernels_.size() >= kMost) kernels_.clear();
    return kernels_.emplace(kind, make(kind)).first->second;
  }
  const dnnl::engine& engine() const { return engine_; }

 private:
  static constexpr std::size_t kMost = 1024;  // a kernel is some 10 KiB

  std::optional<Kernel> make(const Kind& kind) const {
    try {
      const auto about = describe(kind, engine_);
      // Without the instructions there is a reference, which is slower than f32.
      if (std::string_view(about.impl_info_str()).find("ref") != std::string_view::npos) return {};
      return Kernel{about, dnnl::matmul(about)};
    } catch (const dnnl::error&) {
      return {};
    }
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  std::map<Kind, std::optional<Kernel>> kernels_;
  std::mutex mutex_;
};

Kernels& kernels() {
  static Kernels all;
  return all;
}

}  // namespace

bool multiply_bf16(const Stream& stream, const HalfProduct& p) {
  if (p.k == 0 || p.alpha != 1 || (p.beta != 0 && p.beta != 1)) return false;
  const OneDnnCall call;
  const auto kernel =
      kernels().find({p.transpose_a, p.transpose_b, p.result == DType::f32, p.beta == 1,
                      p.bias != nullptr, p.relu, p.m, p.n, p.k, p.lda, p.ldb, p.ldc});
  if (!kernel) return false;
  const dnnl::engine& engine = kernels().engine();
  const auto operand = [&](const memory::desc& desc, const void* data) {
    return memory(desc, engine, const_cast<void*>(data));
  };
  const auto& about = kernel->about;
  const Storage scratch(stream.device(), about.scratchpad_desc().get_size());
  std::unordered_map<int, memory> arguments = {
      {DNNL_ARG_SRC, operand(about.src_desc(), p.a)},
      {DNNL_ARG_WEIGHTS, operand(about.weights_desc(), p.b)},
      {DNNL_ARG_DST, operand(about.dst_desc(), p.c)},
      {DNNL_ARG_SCRATCHPAD, operand(about.scratchpad_desc(), scratch.data())}};
  if (p.bias != nullptr) {
    arguments.emplace(DNNL_ARG_BIAS, operand(about.bias_desc(), p.bias));
  }
  try {
    dnnl::stream queue(engine);
    kernel->run.execute(queue, arguments);
    queue.wait();
  } catch (const dnnl::error& error) {
    throw Error(concat("oneDNN could not multiply in bf16: ", error.what()));
  }
  return true;
}
#else
bool multiply_bf16(const Stream&, const HalfProduct&) { return false; }
#endif

}  // namespace moiety::kernels::cpu
