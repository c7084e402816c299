// Numbers for spatial dims, as convolutions and pools take them.
#pragma once

#include <tessera/core/tensor/shape.h>

namespace tessera::nn {

/// One number for each spatial dim, or one for all: 3 and {3, 5} both serve as a kernel size.
class PerDim {
 public:
  PerDim(std::int64_t all) : numbers_{all} {}
  PerDim(std::initializer_list<std::int64_t> numbers) : numbers_(numbers) {}
  PerDim(const Dims& numbers) : numbers_(numbers) {}

  /// A number for each of `ndim` dims. Throws ValueError that names `what` of `layer` for another
  /// number of them, or for one below `least`.
  [[nodiscard]] Dims each(const char* layer, const char* what, int ndim, std::int64_t least) const {
    check<ValueError>(numbers_.size() == 1 || numbers_.size() == ndim, layer, ": wrong number of ",
                      what, "s; got ", numbers_, ", expected one or ", ndim);
    Dims each;
    for (int d = 0; d < ndim; ++d) {
      each.push_back(numbers_[numbers_.size() == 1 ? 0 : d]);
      check<ValueError>(each[d] >= least, layer, ": ", what, " out of range; got ", each[d],
                        ", expected at least ", least);
    }
    return each;
  }
  [[nodiscard]] const Dims& numbers() const { return numbers_; }

 private:
  Dims numbers_;
};

}  // namespace tessera::nn
