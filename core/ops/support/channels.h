// Tensors (N, C, ...) seen as values of C channels.
#pragma once

#include <vector>

#include <tessera/core/dispatch/op.h>

namespace tessera {

/// Throws InvalidArgument unless `x` is (N, C, ...), of a floating dtype.
void check_channels(const Infer& c, const Tensor& x);
/// Throws InvalidArgument unless input `i`, if it is there, is floating and has one value for each
/// channel of `x`.
void check_channel_values(const Infer& c, const Tensor& x, int i, const char* name);

/// Channels can be cut: dim 1 of (N, C, ...), dim 0 of (C). No label for 0 dims.
[[nodiscard]] DimLabels channel_labels(int ndim);

/// Where the values of a channel lie in a dense tensor.
struct Channels {
  explicit Channels(const TensorImpl& x);
  /// The channel of element `i`.
  [[nodiscard]] std::size_t operator()(std::size_t i) const { return i / inner % count; }

  std::size_t count;
  std::size_t inner;  ///< values that follow each other
  double values;      ///< of each channel
};

/// Input `i`, one number a channel, or `value` for each when it is absent.
[[nodiscard]] std::vector<double> channel_values_or(const Kernel& k, int i, const Channels& of,
                                                    double value);

/// x (C) in a shape that broadcasts to tensors (N, C, ...) of `ndim` dims.
[[nodiscard]] Tensor along_channels(const Tensor& x, int ndim);

}  // namespace tessera
