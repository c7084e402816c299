// Running a module for its shapes alone.
#pragma once

#include <tessera/core/autograd/outside_reads.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/nn/functional/frame.h>
#include <tessera/nn/functional/random_key.h>
#include <tessera/nn/value.h>

namespace tessera::nn::detail {

/// Slots without elements.
class MetaFrame final : public Frame {
 public:
  [[nodiscard]] std::optional<Tensor> read(const Slot& slot) override;
  bool write(const SlotPtr& slot, const Tensor& value) override;
};

/// While it lives, calls of `module` on meta tensors compute nothing: no hook runs, nothing is
/// recorded or changed, random numbers are none of the run's.
class MetaScope {
 public:
  explicit MetaScope(const Module& module)
      : frames_(frame_), pure_(&module), random_(RandomKey{}) {}

 private:
  OutsideRegionScope outside_;
  MetaFrame frame_;
  FrameScope frames_;
  CallStateGuard<&CallState::pure> pure_;
  CallStateGuard<&CallState::tracker> untracked_{nullptr};
  NoGradGuard no_grad_;
  RandomKeyScope random_;
};

/// `value` with a tensor without elements in place of every tensor in it.
[[nodiscard]] Value as_meta(const Value& value);

}  // namespace tessera::nn::detail
