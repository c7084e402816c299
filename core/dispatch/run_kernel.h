// Which kernel of an op runs.
#pragma once

#include <tessera/core/dispatch/op.h>

namespace tessera {

/// Calls the fast kernel of `op` for the outputs' device, or the reference kernel where that leaves
/// the arguments to it. Nothing is called when all outputs are empty.
///
/// On the CPU a fast kernel that leaves strided operands alone is asked again with dense copies of
/// them, so that an element's bits do not depend on the layout of the tensors around it. Reference
/// kernels get dense outputs always.
void run_kernel(const OpDef& op, Kernel& kernel, const void* attrs);

/// Throws Unsupported that names both when nothing computes `op` on `device`.
void require_kernel(const OpDef& op, const Device& device);

/// True when some output has elements to write.
[[nodiscard]] bool has_elements(const Kernel& kernel);

/// A tensor like `x` in row-major memory of its own, not filled.
[[nodiscard]] Ref<TensorImpl> dense_like(const TensorImpl& x);
/// One with its elements; `x` lies on the host.
[[nodiscard]] Ref<TensorImpl> dense_copy(TensorImpl& x);

}  // namespace tessera
