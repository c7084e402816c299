#include <tessera/core/ops/erf.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Erf> kErfCase{{
    .samples = {{.inputs = {real({4, 6})}}},
    .wrong = {{.inputs = {complex({3})}}},
    .dtypes = kRealDTypes,
}};

}  // namespace
}  // namespace tessera
