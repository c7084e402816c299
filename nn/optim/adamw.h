// AdamW.
#pragma once

#include <tessera/nn/optim/adam.h>

namespace tessera::optim {

using AdamWOptions = BasicAdamOptions<true>;

/// Adam with decoupled weight decay (Loshchilov and Hutter, "Decoupled Weight Decay
/// Regularization", ICLR 2019), with the formulas of torch.optim.AdamW.
class AdamW : public BasicAdam<true> {
 public:
  using BasicAdam::BasicAdam;
};

}  // namespace tessera::optim
