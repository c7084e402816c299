#include <tessera/nn/data/transforms/random_horizontal_flip.h>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/flip.h>
#include <tessera/nn/data/transforms/picture.h>

namespace tessera::data {

RandomHorizontalFlip::RandomHorizontalFlip(double p) : p_(p) {
  check<ValueError>(p >= 0 && p <= 1, "RandomHorizontalFlip: p is no probability; got ", p,
                    ", expected 0 to 1");
}

Tensor RandomHorizontalFlip::operator()(const Tensor& x, Random& random) const {
  check_picture("RandomHorizontalFlip", x);
  return random.uniform() < p_ ? flip(x, {2}) : x;
}

}  // namespace tessera::data
