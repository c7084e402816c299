#include <tessera/nn/layers/group_norm.h>

#include <tessera/core/ops/group_norm.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/nn/init/constant.h>
#include <tessera/nn/python_text.h>

namespace tessera::nn {

GroupNorm::GroupNorm(std::int64_t num_groups, std::int64_t num_channels,
                     const GroupNormOptions& options)
    : num_groups_(num_groups), num_channels_(num_channels), options_(options) {
  check<ValueError>(num_groups >= 1 && num_channels >= 1 && num_channels % num_groups == 0,
                    "GroupNorm: groups must divide the channels; got ", num_groups, " groups of ",
                    num_channels, " channels");
  weight = parameter_if(options.affine, this, "weight", {num_channels}, init::ones());
  bias = parameter_if(options.affine && options.bias, this, "bias", {num_channels}, init::zeros());
}

Tensor GroupNorm::forward(const Tensor& x) const {
  const Shape shape = unstacked_shape(x);
  check(shape.size() >= 2 && shape[1] == num_channels_,
        "GroupNorm: wrong number of channels; got shape ", shape, ", expected ", num_channels_,
        " in dim 1");
  return group_norm(x, num_groups_, weight, bias, options_.eps);
}

std::string GroupNorm::extra_repr() const {
  return tessera::detail::concat(
      num_groups_, ", ", num_channels_, ", eps=", python_text(options_.eps),
      ", affine=", python_bool(options_.affine), ", bias=", python_bool(bias.defined()));
}

}  // namespace tessera::nn
