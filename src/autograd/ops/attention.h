// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "autograd/variable.h"
#include "kernels/attention.h"

namespace moiety::ops {

/// Which tokens attend to which: sequence b has queries query_ptr[b] .. query_ptr[b+1] and keys
/// key_ptr[b] .. key_ptr[b+1]; both i32 [B+1]. For self-attention they are the same tensor.
struct Sequences {
  Tensor query_ptr;
  Tensor key_ptr;
  /// True where the pointers are known to fit queries and keys; else the operation checks them.
  bool checked = false;
};

struct AttentionOptions {
  double scale = 0;         ///< of q . k; 0: 1 / sqrt(D)
  bool causal = false;      ///< query i of a sequence sees its keys 0 .. i + keys - queries
  double dropout = 0;       ///< probability of dropping a weight
  RngKey key = {};          ///< of the mask
  Tensor key_place = {};    ///< where defined, the key's place on the device, as in ops::dropout
  std::uint64_t first = 0;  ///< number of the first query in the whole batch
  std::int64_t longest = 1024;  ///< no sequence is longer: the mask's elements depend on it
  kernels::AttentionLibrary library = kernels::AttentionLibrary::own;
};

/// Multi-head attention (Vaswani et al. 2017) of packed sequences: softmax(scale q k^T + bias) v
/// for each sequence and head; 0 where a query sees no key. Heads are grouped where k has fewer
/// than q (Ainslie et al. 2023). q [Tq, H, D], k and v [Tk, G, D], bias undefined or [B|1, H|1,
/// Lq|1, Lk|1]
/// -> [Tq, H, D]. Memory grows with the tokens, not with their pairs. Has no second derivative:
/// asking for one throws Error.
Variable attention(const Variable& q, const Variable& k, const Variable& v,
                   const Sequences& sequences, const AttentionOptions& options = {},
                   const Variable& bias = {});

}  // namespace moiety::ops
