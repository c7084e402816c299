// Casting and moving a tree's tensors. What members of Module do has its description there.
#pragma once

#include <functional>
#include <optional>

#include <tessera/core/tensor/tensor.h>
#include <tessera/nn/memory_format.h>
#include <tessera/nn/tree/forward.h>

namespace tessera::nn::detail {

/// Moves everything to `device` and converts what is of one of the dtypes `converted` to `dtype`;
/// nothing leaves them as they are.
Module& to(Module& module, std::optional<Device> device, std::optional<DType> dtype,
           bool (*converted)(DType) = is_differentiable);
Module& to(Module& module, DeviceType type, std::optional<int> index);
Module& to(Module& module, MemoryFormat format);
Module& type(Module& module, DType dtype);
Module& to_empty(Module& module, Device device, bool recurse);
Module& share_memory(Module& module);

/// Replaces the value of every slot, and its gradient, by what `f` makes of it, as casts and moves
/// do. Children come first, then own parameters, then own buffers.
Module& for_each_slot_storage(Module& module, const std::function<Tensor(const Tensor&)>& f,
                              bool recurse = true);

}  // namespace tessera::nn::detail
