// A parameter that an optimizer's step updates.
#pragma once

#include <tessera/nn/optim/optimizer.h>

namespace tessera::optim {

struct Optimizer::ParameterUpdate {
  Item* item;
  Tensor value;  ///< the parameter's or, where that is strided, a dense copy to be written back
  Tensor gradient;
  nn::Ownership* ownership;  ///< null when this process trains alone
  nn::ElementRange own;      ///< what this rank updates
};

}  // namespace tessera::optim
