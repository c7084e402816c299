// Running a module with other variables than its own.
#pragma once

#include <unordered_map>

#include <tessera/nn/functional/frame.h>
#include <tessera/nn/state/variables.h>
#include <tessera/nn/tree/module.h>

namespace tessera::nn {

/// Reads come from what was given; writes to what was given go there, and end with the frame.
class OverrideFrame final : public Frame {
 public:
  /// Throws StructureError when `values` are other than those of the slots of `kind` in `module`;
  /// with `partial` names may be missing.
  void give(const Module& module, Slot::Kind kind, const Variables& values, bool partial);

  [[nodiscard]] std::optional<Tensor> read(const Slot& slot) override;
  bool write(const SlotPtr& slot, const Tensor& value) override;

 private:
  std::unordered_map<const Slot*, Tensor> values_;
};

}  // namespace tessera::nn
