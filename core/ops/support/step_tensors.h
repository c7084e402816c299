// What an optimizer's step works on.
#pragma once

#include <vector>

#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// One parameter of a step, or a run of its elements: dense tensors of one floating dtype.
struct StepTensors {
  Tensor parameter;
  Tensor gradient;
  std::vector<Tensor> states;
};

}  // namespace tessera
