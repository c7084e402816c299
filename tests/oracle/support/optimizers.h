// Making optimizers from PyTorch's arguments.
#pragma once

#include "oracle/support/counterparts.h"

namespace tessera::oracle {

/// Overwrites `option`, whose default it has, with the argument of that name, if there is one.
inline void take(const Attributes& a, const char* name, double& option) {
  option = a.number(name, option);
}
inline void take(const Attributes& a, const char* name, bool& option) {
  option = a.flag(name, option);
}

/// The optimizer O with options by PyTorch's names; PyTorch's pair `betas` is beta1 and beta2 here.
template <class O, class Options>
std::unique_ptr<optim::Optimizer> made(const std::vector<nn::Parameter>& parameters,
                                       const Attributes& a) {
  Options options;
  Options::each(options, [&](const char* name, auto& option) { take(a, name, option); });
  if constexpr (requires { options.beta1; }) {
    if (a.has("betas")) {
      options.beta1 = a.numbers("betas").at(0);
      options.beta2 = a.numbers("betas").at(1);
    }
  }
  return std::make_unique<O>(parameters, options);
}

}  // namespace tessera::oracle
