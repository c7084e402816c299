#include <tessera/nn/layers/mlp.h>

#include <tessera/core/ops/gelu.h>

namespace tessera::nn {
namespace {

std::int64_t hidden_of(std::int64_t width, const MlpOptions& options) {
  return options.hidden == 0 ? 4 * width : options.hidden;
}

}  // namespace

Mlp::Mlp(std::int64_t width, const MlpOptions& options)
    : c_fc(this, "c_fc", width, hidden_of(width, options),
           LinearOptions{.bias = options.bias,
                         .weight_init = options.weight_init,
                         .bias_init = options.bias_init}),
      c_proj(this, "c_proj", hidden_of(width, options), width,
             LinearOptions{.bias = options.bias,
                           .weight_init = options.projection_init,
                           .bias_init = options.bias_init}),
      dropout(this, "dropout", options.dropout),
      width_(width),
      options_(options) {}

Tensor Mlp::forward(const Tensor& x) const {
  return dropout(c_proj(gelu(c_fc(x), /*tanh_form=*/true)));
}

}  // namespace tessera::nn
