#include <tessera/nn/optim/lion.h>

#include "oracle/support/optimizers.h"

namespace tessera::oracle {
namespace {

const Counterparts<Optimizer> kLion{{"Lion", {made<optim::Lion, optim::LionOptions>}}};

}  // namespace
}  // namespace tessera::oracle
