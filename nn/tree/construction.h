// Modules under construction on a thread.
#pragma once

#include <tessera/nn/tree/class_info.h>

namespace tessera::nn::detail {

/// While it lives, the next module constructed on this thread is of class `info`.
class Construction {
 public:
  explicit Construction(const ClassInfo& info);
  ~Construction();
  Construction(const Construction&) = delete;
  Construction& operator=(const Construction&) = delete;
  /// True for the root of what is being constructed.
  [[nodiscard]] bool outermost() const;
  /// For the base class of modules: the class under construction.
  static const ClassInfo& take_class();
};

}  // namespace tessera::nn::detail
