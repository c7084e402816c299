// What losses that are means over counted elements leave to do to gradients.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace tessera {

/// What is left to do to gradients once they are summed over the global batch. Where C elements of
/// each microbatch count and its seed was C / (n G), that is the factor n G / sum(C).
struct GradientScale {
  double factor = 1;
  bool nothing = false;  ///< nothing counted: gradients are zeros that no step should use
};

/// The n of a run's losses by number of the backward in its pass.
using ElementsOfRun = std::map<std::size_t, double>;

/// What a leaf remembers of the losses whose backwards reached it.
struct LossMemory {
  std::mutex mutex;
  ElementsOfRun elements;  ///< set in the run's first step
};

}  // namespace tessera
