#include <tessera/core/ops/gather.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Gather> kGatherCase{{
    .samples = {{.inputs = {real({4, 6}), integers({4, 8}, 0, 6)}, .attrs = {.dim = 1}},
                {.inputs = {real({6, 4}), integers({3, 2}, 0, 6)}, .attrs = {.dim = 0}}},
    .wrong = {{.inputs = {real({4}), integers({4}, 4, 5)}},
              {.inputs = {real({4}), real({4})}},
              {.inputs = {real({4}), integers({4, 1}, 0, 1)}}},
    .dtypes = kAllDTypes,
}};

}  // namespace
}  // namespace tessera
