#include <tessera/core/ops/add_rows.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<AddRows> kAddRowsCase{{
    .samples = {{.inputs = {real({4, 2, 3}), integers({4, 2}, 0, 5), real({5, 3})},
                 .attrs = {.rows = 5}},
                {.inputs = {real({8, 3}), integers({8}, 0, 2), absent()},
                 .attrs = {.rows = 4, .microbatch_count = 4}}},
    .wrong = {{.inputs = {real({4, 3}), integers({4}, 5, 6), absent()}, .attrs = {.rows = 5}},
              {.inputs = {real({4, 3}), integers({3}, 0, 5), absent()}, .attrs = {.rows = 5}},
              {.inputs = {real({4, 3}), real({4}), absent()}, .attrs = {.rows = 5}},
              {.inputs = {real({4, 3}), integers({4}, 0, 5), real({4, 3})}, .attrs = {.rows = 5}}},
}};

}  // namespace
}  // namespace tessera
