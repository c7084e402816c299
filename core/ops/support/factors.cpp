#include <tessera/core/ops/support/factors.h>

namespace tessera {
namespace {

bool rounds_to(DType from, DType to) {
  if (is_complex(from)) {
    return is_complex(to);
  }
  return is_floating(from) ? is_differentiable(to) : true;
}

}  // namespace

void check_factors(const Infer& c, DType dtype) {
  for (int i = 0; i < c.input_count(); ++i) {
    if (c.has_input(i)) {
      check(rounds_to(c.input(i).dtype(), dtype), c.op(), ": input ", i,
            " has the wrong dtype; got ", c.input(i).dtype(), ", expected one that rounds to ",
            dtype);
    }
  }
}

}  // namespace tessera
