#include <tessera/core/tensor/array_loops.h>
#include <tessera/kernels/cpu/isa.h>

namespace tessera::cpu {

[[maybe_unused]] const bool kArrayLoopsSet = set_array_loops(&IsaTable<ArrayLoops>::get);

}  // namespace tessera::cpu
