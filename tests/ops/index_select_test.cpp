#include <tessera/core/ops/index_select.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<IndexSelect> kIndexSelectCase{{
    .samples = {{.inputs = {real({4, 6}), integers({8}, 0, 6)}, .attrs = {.dim = 1}},
                {.inputs = {real({6, 4}), integers({4}, 0, 6)}}},
    .wrong = {{.inputs = {real({4}), integers({4}, 4, 5)}},
              {.inputs = {real({4}), real({4})}},
              {.inputs = {real({}), integers({4}, 0, 1)}}},
    .dtypes = kAllDTypes,
}};

}  // namespace
}  // namespace tessera
