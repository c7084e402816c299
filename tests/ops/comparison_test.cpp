#include <tessera/core/ops/comparison.h>

#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Eq> kEqCase{{
    .samples = {{.inputs = {integers({4, 6}, 0, 3), integers({6}, 0, 3)}},
                {.inputs = {real({4}), real({4})}}},
    .wrong = {{.inputs = {real({4}), real({3})}}},
}};

const RegisterOpCase<Ne> kNeCase{{
    .samples = {{.inputs = {integers({4, 6}, 0, 3), integers({6}, 0, 3)}},
                {.inputs = {real({4}), real({4})}}},
    .wrong = {{.inputs = {real({4}), real({3})}}},
}};

const RegisterOpCase<Lt> kLtCase{{
    .samples = {{.inputs = {integers({4, 6}, 0, 3), integers({6}, 0, 3)}},
                {.inputs = {real({4}), real({4})}}},
    .wrong = {{.inputs = {real({4}), real({3})}}, {.inputs = {complex({4}), complex({4})}}},
}};

const RegisterOpCase<Le> kLeCase{{
    .samples = {{.inputs = {integers({4, 6}, 0, 3), integers({6}, 0, 3)}},
                {.inputs = {real({4}), real({4})}}},
    .wrong = {{.inputs = {real({4}), real({3})}}, {.inputs = {complex({4}), complex({4})}}},
}};

const RegisterOpCase<Gt> kGtCase{{
    .samples = {{.inputs = {integers({4, 6}, 0, 3), integers({6}, 0, 3)}},
                {.inputs = {real({4}), real({4})}}},
    .wrong = {{.inputs = {real({4}), real({3})}}, {.inputs = {complex({4}), complex({4})}}},
}};

const RegisterOpCase<Ge> kGeCase{{
    .samples = {{.inputs = {integers({4, 6}, 0, 3), integers({6}, 0, 3)}},
                {.inputs = {real({4}), real({4})}}},
    .wrong = {{.inputs = {real({4}), real({3})}}, {.inputs = {complex({4}), complex({4})}}},
}};

}  // namespace
}  // namespace tessera
