#include <tessera/core/ops/support/factors.h>

#include <tessera/core/dispatch/autocast.h>

namespace tessera {
namespace {

bool rounds_to(DType from, DType to) {
  if (is_complex(from)) {
    return is_complex(to);
  }
  return is_floating(from) ? is_differentiable(to) : true;
}

void check_one_width(const char* op, const Factor& a, const Factor& b) {
  const DType narrow = a.tensor.dtype(), wide = b.tensor.dtype();
  check<TypeError>(
      wide != DType::f64 || narrow == wide || !is_differentiable(narrow) || is_complex(narrow), op,
      ": ", a.name, " and ", b.name, " have different dtypes; got ", narrow, " and ", wide,
      ", expected one: bring ", b.name, " to ", narrow, " by cast(", b.name, ", DType::", narrow,
      "), or ", a.name, " to ", wide);
}

}  // namespace

DType product_dtype(const char* op, std::initializer_list<Factor> factors) {
  const Factor& first = *factors.begin();
  DType promoted = first.tensor.dtype();
  for (const Factor& factor : factors) {
    if (factor.tensor.defined()) {
      check_one_width(op, first, factor);
      check_one_width(op, factor, first);
      promoted = promote(promoted, factor.tensor.dtype());
    }
  }
  return compute_dtype(promoted);
}

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
