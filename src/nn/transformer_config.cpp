// SPDX-License-Identifier: Apache-2.0
#include "nn/transformer_config.h"

#include <limits>
#include <string_view>
#include <utility>

namespace moiety::nn {

void check_config(const TransformerConfig& c) {
  using Extent = std::pair<std::string_view, std::int64_t>;
  for (const auto& [key, value] :
       {Extent{"vocabulary", c.vocabulary}, Extent{"max_length", c.max_length},
        Extent{"hidden", c.hidden}, Extent{"layers", c.layers}, Extent{"heads", c.heads}}) {
    check<UserError>(value > 0 && value <= std::numeric_limits<std::int32_t>::max(), "model.", key,
                     " must be positive, not ", value);
  }
  check<UserError>(c.token_types >= 0 && c.key_heads >= 0 && c.inner >= 0,
                   "model.token_types, model.key_heads and model.inner must not be negative");
  check<UserError>(c.hidden % c.heads == 0, "model.hidden must be a multiple of model.heads; ",
                   c.hidden, " is none of ", c.heads);
  check<UserError>(c.heads % c.heads_of_keys() == 0,
                   "model.heads must be a multiple of model.key_heads; ", c.heads, " is none of ",
                   c.key_heads);
  check<UserError>(c.positions != PositionKind::rotary || c.head_size() % 2 == 0,
                   "model.positions = \"rotary\" needs heads of an even size; they have ",
                   c.head_size());
  check<UserError>(c.rotary_base > 0, "model.rotary_base must be positive, not ", c.rotary_base);
  check<UserError>(c.norm_eps > 0, "model.norm_eps must be positive, not ", c.norm_eps);
  check<UserError>(c.init_sd >= 0, "model.init_sd must not be negative, but is ", c.init_sd);
  using Probability = std::pair<std::string_view, double>;
  for (const auto& [key, p] :
       {Probability{"dropout", c.dropout}, Probability{"attention_dropout", c.attention_dropout}}) {
    check<UserError>(p >= 0 && p < 1, "model.", key, " must be in [0, 1), not ", p);
  }
}

}  // namespace moiety::nn
