// Layers that take their first size from what they are first called with.
//
//   auto model = nn::make<nn::Sequential>();
//   model->add<nn::LazyConv2d>(8, 3);
#pragma once

#include <string>
#include <utility>

#include <tessera/nn/layers/batch_norm.h>
#include <tessera/nn/layers/conv.h>
#include <tessera/nn/layers/conv_transpose.h>
#include <tessera/nn/layers/instance_norm.h>
#include <tessera/nn/layers/linear.h>

namespace tessera::nn {

/// The size that a lazy layer was made without, where it is known: what bytes hold of it.
struct LazySize {
  std::int64_t size = kInferred;

  static void each(auto& options, const auto& f) { f("size", options.size); }
};

/// A Layer made without its first argument, a size, which the first call tells, or the state dict
/// that is loaded before. Until then it is listed, cast and given to optimizers as any other; only
/// shapes and values cannot be read, which throws RuntimeError.
template <class Layer>
class Lazy : public Layer {
 public:
  template <class... A>
  explicit Lazy(A&&... arguments) : Layer(kInferred, std::forward<A>(arguments)...) {
    this->build_on_call();
  }
  template <class... A>
  explicit Lazy(LazySize first, A&&... arguments)
      : Layer(first.size > 0 ? first.size : kInferred, std::forward<A>(arguments)...) {
    this->build_on_call();
  }
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const {
    return std::apply(
        [](std::int64_t size, const auto&... others) {
          return std::tuple(LazySize{size > 0 ? size : kInferred}, others...);
        },
        Layer::arguments());
  }

  /// The layer's, with Lazy before it until the size is known.
  [[nodiscard]] std::string class_name() const override {
    const std::string& name = detail::class_info<Layer>().name;
    return this->built() ? name : "Lazy" + name;
  }

 protected:
  bool do_build(const Args& args, const Kwargs& /*kwargs*/) override {
    check<ValueError>(!args.empty(), class_name(), ": needs an input to take its size from");
    this->infer_sizes(args.front().tensor());
    return true;
  }
};

using LazyLinear = Lazy<Linear>;
using LazyConv1d = Lazy<Conv1d>;
using LazyConv2d = Lazy<Conv2d>;
using LazyConv3d = Lazy<Conv3d>;
using LazyConvTranspose1d = Lazy<ConvTranspose1d>;
using LazyConvTranspose2d = Lazy<ConvTranspose2d>;
using LazyConvTranspose3d = Lazy<ConvTranspose3d>;
using LazyBatchNorm1d = Lazy<BatchNorm1d>;
using LazyBatchNorm2d = Lazy<BatchNorm2d>;
using LazyBatchNorm3d = Lazy<BatchNorm3d>;
using LazyInstanceNorm1d = Lazy<InstanceNorm1d>;
using LazyInstanceNorm2d = Lazy<InstanceNorm2d>;
using LazyInstanceNorm3d = Lazy<InstanceNorm3d>;

}  // namespace tessera::nn
