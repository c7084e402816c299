#include <tessera/core/ops/conj.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Conj> kConjCase{{
    .samples = {{.inputs = {complex({4, 6})}}},
    .dtypes = {DType::c64, DType::c128},
}};

}  // namespace
}  // namespace tessera
