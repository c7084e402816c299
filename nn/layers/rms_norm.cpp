#include <tessera/nn/layers/rms_norm.h>

#include <limits>

#include <tessera/core/ops/rms_norm.h>
#include <tessera/nn/init/constant.h>
#include <tessera/nn/layers/trailing_dims.h>
#include <tessera/nn/python_text.h>

namespace tessera::nn {

RMSNorm::RMSNorm(const Shape& normalized_shape, const RMSNormOptions& options)
    : normalized_shape_(normalized_shape), eps_(options.eps) {
  check_normalized_shape("RMSNorm", normalized_shape);
  weight = parameter_if(options.affine, this, "weight", normalized_shape, init::ones());
}

Tensor RMSNorm::forward(const Tensor& x) const {
  check_ends_in("RMSNorm", x, normalized_shape_);
  const double smallest = x.dtype() == DType::f64 ? std::numeric_limits<double>::epsilon()
                                                  : double{std::numeric_limits<float>::epsilon()};
  const int dims = normalized_shape_.size();
  const Tensor y = rms_norm(as_rows(x, dims), as_rows(weight, dims), eps_.value_or(smallest));
  return dims == 1 ? y : reshape(y, unstacked_shape(x));
}

std::string RMSNorm::extra_repr() const {
  const std::string eps = eps_ ? python_text(*eps_) : "None";
  return tessera::detail::concat(normalized_shape_, ", eps=", eps,
                                 ", elementwise_affine=", python_bool(weight.defined()));
}

}  // namespace tessera::nn
