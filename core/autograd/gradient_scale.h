// What losses that are means over counted elements leave to do to gradients.
#pragma once

namespace tessera {

/// What is left to do to gradients once they are summed over the global batch. Where C elements of
/// each microbatch count and its seed was C / (n G), that is the factor n G / sum(C).
struct GradientScale {
  double factor = 1;
  bool nothing = false;  ///< nothing counted: gradients are zeros that no step should use
};

}  // namespace tessera
