// A kernel that waits for its turn, with everything that it refers to.
#pragma once

#include <cstdint>
#include <span>

#include <tessera/core/dispatch/op.h>

namespace tessera {

/// What a device's stream runs later (DeviceBackend::launch).
///
/// Operands are copies: the host goes on to change the tensors themselves (their place on the tape,
/// their microbatches). They keep no memory of the device alive, which may be freed while work on
/// it is in a queue; what lies on the host (numbers) is held by value.
class KernelJob {
 public:
  KernelJob(const OpDef& op, const Kernel& kernel, const void* attrs);

  /// Inputs, null where the call has none, then outputs. A backend whose kernels look elsewhere
  /// gives them other storages.
  [[nodiscard]] std::span<const Ref<TensorImpl>> operands() const {
    return {operands_.data(), operands_.size()};
  }
  /// True for operands that the kernel writes.
  [[nodiscard]] bool writes(std::size_t operand) const { return operand >= input_count_; }
  [[nodiscard]] const char* op() const { return op_->info.name; }

  /// Runs the kernel for the device on which the operands lie now.
  void run();

 private:
  const OpDef* op_;
  AttrsBox attrs_;
  std::int32_t microbatch_count_;
  bool per_microbatch_;
  std::size_t input_count_;
  InlineVector<Ref<TensorImpl>, 8> operands_;
};

}  // namespace tessera
