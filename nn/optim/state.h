// What a checkpoint keeps of an optimizer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tessera/core/tensor/tensor.h>

namespace tessera::optim {

struct OptimizerState {
  /// Named KIND/PARAMETER ("exp_avg/h.0.attn.c_attn.weight"), each of its parameter's shape:
  /// handles on the optimizer's own memory. Names are those in the tree that the parameter is in
  /// when the state is taken or loaded. Of several parameters of one name, which are of several
  /// models, the second is NAME#2, and so on in the order in which the optimizer was given them.
  std::vector<std::pair<std::string, Tensor>> tensors;
  /// Counters and options: "steps", "group.0.lr", "steps/PARAMETER" for each parameter that was not
  /// updated in every step and, where there are several groups, "group/PARAMETER", the number of
  /// its own.
  std::vector<std::pair<std::string, double>> numbers;
};

}  // namespace tessera::optim
