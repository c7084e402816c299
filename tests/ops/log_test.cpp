#include <tessera/core/ops/log.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Log> kLogCase{{
    .samples = {{.inputs = {real({4, 6}, 0.5, 4)}}},
    .dtypes = kFloatDTypes,
}};

}  // namespace
}  // namespace tessera
