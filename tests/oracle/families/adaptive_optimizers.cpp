#include <tessera/nn/optim/adafactor.h>
#include <tessera/nn/optim/adagrad.h>
#include <tessera/nn/optim/adam.h>
#include <tessera/nn/optim/rmsprop.h>

#include "oracle/support/optimizers.h"

namespace tessera::oracle {
namespace {

std::unique_ptr<optim::Optimizer> adafactor(const std::vector<nn::Parameter>& parameters,
                                            const Attributes& a) {
  optim::AdafactorOptions options{.lr = a.number("lr", 1e-2),
                                  .beta2_decay = a.number("beta2_decay", -0.8),
                                  .d = a.number("d", 1),
                                  .weight_decay = a.number("weight_decay", 0),
                                  .maximize = a.flag("maximize", false)};
  if (a.has("eps")) {
    options.eps1 = a.numbers("eps").at(0);
    options.eps2 = a.numbers("eps").at(1);
  }
  return std::make_unique<optim::Adafactor>(parameters, options);
}

const Counterparts<Optimizer> kAdaptiveOptimizers{
    {"Adam", {made<optim::Adam, optim::AdamOptions>}},
    {"Adagrad", {made<optim::Adagrad, optim::AdagradOptions>}},
    {"RMSprop", {made<optim::RMSprop, optim::RMSpropOptions>}},
    {"Adafactor", {adafactor}},
};

}  // namespace
}  // namespace tessera::oracle
