// SPDX-License-Identifier: Apache-2.0
#include "autograd/variable.h"

namespace moiety {

Variable::Variable(Tensor data, bool requires_grad) : impl_(std::make_shared<Impl>()) {
  check<DTypeError>(!requires_grad || is_floating(data.dtype()),
                    "only floating-point tensors have gradients, not ", name_of(data.dtype()));
  impl_->data = std::move(data);
  impl_->requires_grad = requires_grad;
}

Variable::Variable(Tensor data, std::shared_ptr<autograd::Node> node, std::uint32_t output)
    : impl_(std::make_shared<Impl>()) {
  impl_->data = std::move(data);
  impl_->node = std::move(node);
  impl_->output = output;
}

const Tensor& Variable::data() const {
  check(defined(), "use of an undefined variable");
  return impl_->data;
}

void Variable::rebind(Tensor data) {
  check(is_leaf(), "rebind: only leaves can change their storage");
  check<ShapeError>(data.shape() == shape() && data.dtype() == dtype(), "rebind: ", data.shape(),
                    " in place of ", shape());
  impl_->data = std::move(data);
}

}  // namespace moiety
