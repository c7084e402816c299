// Leave to use the tile registers of AMX.
#pragma once

namespace tessera::cpu {

/// True where the CPU multiplies tiles of bf16 and the kernel lets this process use them: their
/// 8 KiB of state a thread must be asked for (Linux, Documentation/arch/x86/xstate.rst). Asks once.
[[nodiscard]] bool may_use_amx() noexcept;

}  // namespace tessera::cpu
