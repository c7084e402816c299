// Pictures of mean 0 and deviation 1.
#pragma once

#include <vector>

#include <tessera/core/tensor/tensor.h>

namespace tessera::data {

/// (x - mean) / std, with a number of each for every channel, or one for all. For floating
/// pictures.
class Normalize {
 public:
  /// Throws ValueError for lists of unequal length or none, and for a std that is not positive.
  Normalize(std::vector<double> mean, std::vector<double> std);
  /// Throws TypeError for integers, InvalidArgument for another number of channels.
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

 private:
  std::vector<double> mean_;
  std::vector<double> std_;
};

}  // namespace tessera::data
