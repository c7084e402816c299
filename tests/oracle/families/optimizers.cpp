#include <tessera/nn/optim/adamw.h>
#include <tessera/nn/optim/sgd.h>

#include "oracle/support/optimizers.h"

namespace tessera::oracle {
namespace {

const Counterparts<Optimizer> kOptimizers{{"AdamW", {made<optim::AdamW, optim::AdamWOptions>}},
                                          {"SGD", {made<optim::SGD, optim::SGDOptions>}}};

}  // namespace
}  // namespace tessera::oracle
