#include <tessera/core/ops/support/factors.h>

#include <tessera/core/dispatch/call_context.h>

namespace tessera {
namespace {

bool rounds_to(DType from, DType to) {
  if (is_complex(from)) {
    return is_complex(to);
  }
  return is_floating(from) ? is_differentiable(to) : true;
}

/// True where autocast brings both to its own dtype.
bool rounds_both(DType a, DType b) {
  const auto rounds = [](DType dtype) { return is_floating(dtype) && dtype != DType::f64; };
  return CallContext::current().autocast && rounds(a) && rounds(b);
}

void check_one_dtype(const char* op, const Factor& a, const Factor& b) {
  const DType got = b.tensor.dtype(), expected = a.tensor.dtype();
  check<TypeError>(got == expected || rounds_both(got, expected), op, ": ", a.name, " and ", b.name,
                   " have different dtypes; got ", expected, " and ", got, ", expected one: cast(",
                   b.name, ", DType::", expected, ") has that of ", a.name);
}

}  // namespace

DType product_dtype(const char* op, std::initializer_list<Factor> factors) {
  const Factor& first = *factors.begin();
  DType promoted = first.tensor.dtype();
  for (const Factor& factor : factors) {
    if (factor.tensor.defined()) {
      check_one_dtype(op, first, factor);
      promoted = promote(promoted, factor.tensor.dtype());
    }
  }
  return CallContext::current().compute_dtype(promoted);
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
