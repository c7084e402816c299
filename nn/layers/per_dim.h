// Numbers for spatial dims, as convolutions and pools take them.
#pragma once

#include <tessera/core/tensor/shape.h>

namespace tessera::nn {

/// One number for all spatial dims, or one for each: 3 and {3, 5} both serve as a kernel size.
class PerDim {
 public:
  PerDim(std::int64_t all) : numbers_{all}, single_(true) {}
  PerDim(std::initializer_list<std::int64_t> numbers) : numbers_(numbers) {}
  PerDim(const Dims& numbers) : numbers_(numbers) {}

  [[nodiscard]] const Dims& numbers() const { return numbers_; }
  [[nodiscard]] bool single() const { return single_; }  ///< given as one number
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
  /// Prints what was given: 3 or (3, 5).
  friend std::ostream& operator<<(std::ostream& out, const PerDim& p) {
    return p.single_ ? out << p.numbers_[0] : out << p.numbers_;
  }

 private:
  Dims numbers_;
  bool single_ = false;
};

}  // namespace tessera::nn
