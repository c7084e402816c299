#include <tessera/core/ops/embedding.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Embedding> kEmbeddingCase{{
    .samples = {{.inputs = {real({5, 4}), integers({4, 2}, 0, 5)}},
                {.inputs = {real({3, 2}), integers({}, 0, 3)}},
                {.inputs = {real({4, 2}), integers({1, 3}, 0, 4)}}},
    .wrong = {{.inputs = {real({5, 4}), integers({4}, 5, 6)}},
              {.inputs = {real({5, 4}), integers({4}, -1, 0)}},
              {.inputs = {real({5, 4}), real({4})}},
              {.inputs = {real({5, 4}), booleans({4})}},
              {.inputs = {real({5}), integers({4}, 0, 5)}}},
    .dtypes = kAllDTypes,
}};

}  // namespace
}  // namespace tessera
