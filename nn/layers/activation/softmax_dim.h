// The dim of Softmax and LogSoftmax, which PyTorch guesses when none is given.
#pragma once

#include <optional>

#include <tessera/core/base/log.h>
#include <tessera/core/ops/microbatches.h>

namespace tessera::nn {

/// `dim`, or the one guessed for `x`, with a word in the log.
inline int softmax_dim(const char* layer, std::optional<int> dim, const Tensor& x) {
  if (dim) {
    return *dim;
  }
  const int ndim = unstacked_ndim(x);
  const int guess = ndim == 0 || ndim == 1 || ndim == 3 ? 0 : 1;
  log_once(layer, LogLevel::warning, layer, ": no dim was given; taking dim ", guess);
  return guess;
}

}  // namespace tessera::nn
