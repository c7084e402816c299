// Keeping a call's writes from the module that is called.
#pragma once

#include <cstdint>
#include <unordered_map>

#include <tessera/nn/functional/frame.h>
#include <tessera/nn/state/variables.h>
#include <tessera/nn/tree/module.h>

namespace tessera::nn {

/// Takes all writes to slots of one tree, with their history; reads give what was written last.
class CaptureFrame : public KeepingFrame {
 public:
  explicit CaptureFrame(const Module& module);

  bool write(const SlotPtr& slot, const Tensor& value) override;
  /// Throws RuntimeError naming a tensor of the module that was written in place, past `assign`.
  void check_unchanged() const;
  /// The module with what was written, `detached` or with its history; everything else is shared
  /// with it.
  [[nodiscard]] ModulePtr updated(bool detached) const;

 private:
  const Module& module_;
  struct Version {
    Tensor value;
    std::uint32_t version;
  };
  std::unordered_map<const Slot*, Version> known_;  ///< and what they held
};

/// A frame that captures writes, and in which reads of trained parameters give fresh leaves, so
/// that gradients with respect to the module are its alone.
class LeavesFrame final : public CaptureFrame {
 public:
  explicit LeavesFrame(const Module& module);

  [[nodiscard]] std::optional<Tensor> read(const Slot& slot) override;
  /// The gradient of `loss`, a number, with respect to every parameter, in the structure of
  /// `Module::variables`: zeros for parameters without influence, no value for buffers and frozen
  /// parameters.
  [[nodiscard]] Variables gradients(const Tensor& loss) const;

 private:
  struct Leaf {
    std::string name;
    Tensor value;
  };
  Variables structure_;
  std::unordered_map<const Slot*, Leaf> leaves_;
};

}  // namespace tessera::nn
