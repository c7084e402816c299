#include <tessera/core/dispatch/autocast.h>

namespace tessera {

std::optional<DType> AutocastScope::checked(DType dtype) {
  check(dtype == DType::f32 || dtype == DType::bf16 || dtype == DType::f16,
        "autocast: cannot compute in this dtype; got ", dtype, ", expected f32, bf16 or f16");
  return dtype == DType::f32 ? std::nullopt : std::optional(dtype);
}

}  // namespace tessera
