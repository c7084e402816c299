#include <tessera/core/ops/cast.h>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include <tessera/core/ops/select.h>
#include <tessera/core/tensor/factories.h>

#include "support/op_case.h"
#include "support/op_tools.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Cast> kCastCase{{
    .samples = {{.inputs = {real({4, 6})}, .attrs = {.dtype = DType::f64}}},
    .dtypes = kRealDTypes,
}};

TEST(Cast, of_a_complex_number_to_bool_looks_at_both_parts) {
  using C = std::complex<double>;
  const Tensor x =
      from_values<C>({{0, 0}, {-0.0, -0.0}, {1, 0}, {0, 1}, {0, -1e-30}, {0, NAN}}, {6});
  const std::vector<bool> expected{false, false, true, true, true, true};
  for (const DType dtype : {DType::c64, DType::c128}) {
    const Tensor given = cast(x, dtype);
    const Cast::Attrs attrs{.dtype = DType::boolean};
    const Tensor slow = run_reference(op_def<Cast>(), {given}, &attrs)[0];
    EXPECT_EQ(cast(given, DType::boolean).to_vector<bool>(), expected) << dtype;
    EXPECT_EQ(slow.to_vector<bool>(), expected) << dtype;
    EXPECT_EQ(given.to_vector<bool>(), expected) << dtype;
    const Tensor copied = zeros({6}, {.dtype = DType::boolean});
    copied.copy_(given);
    EXPECT_EQ(copied.to_vector<bool>(), expected) << dtype;
    EXPECT_TRUE(select(given, 0, 3).item<bool>());
    EXPECT_FALSE(select(given, 0, 1).item<bool>());
  }
}

}  // namespace
}  // namespace tessera
