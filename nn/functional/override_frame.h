// Running a module with other variables than its own.
#pragma once

#include <tessera/nn/functional/frame.h>
#include <tessera/nn/state/variables.h>
#include <tessera/nn/tree/module.h>

namespace tessera::nn {

/// Reads come from what was given; writes to what was given go there, and end with the frame.
class OverrideFrame final : public KeepingFrame {
 public:
  /// Throws StructureError when `values` are other than those of the slots of `kind` in `module`;
  /// with `partial` names may be missing.
  void give(const Module& module, Slot::Kind kind, const Variables& values, bool partial);

  bool write(const SlotPtr& slot, const Tensor& value) override;
};

}  // namespace tessera::nn
