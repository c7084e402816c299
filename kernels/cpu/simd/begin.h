// The last include of every file in this folder: what follows, up to simd/end.h, is compiled for
// TESSERA_ISA.
//
// The target is switched on here and not on the command line so that inline functions of the
// standard library, included before, stay at the baseline: the linker keeps one copy of them for
// the whole program, and on an old CPU it must not be one with new instructions. Files that are
// compiled together include it once each.

#pragma GCC push_options
#if TESSERA_ISA_LEVEL == 4
#pragma GCC target( \
    "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,amx-tile,amx-bf16,prefer-vector-width=512")
#include <tessera/kernels/cpu/simd/vector_avx512.h>
#elif TESSERA_ISA_LEVEL == 3
#pragma GCC target( \
    "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,prefer-vector-width=512")
#include <tessera/kernels/cpu/simd/vector_avx512.h>
#elif TESSERA_ISA_LEVEL == 2
#pragma GCC target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
#include <tessera/kernels/cpu/simd/vector_avx512.h>
#elif TESSERA_ISA_LEVEL == 1
#pragma GCC target("avx2,fma,f16c,prefer-vector-width=256")
#include <tessera/kernels/cpu/simd/vector_avx2.h>
#else
#include <tessera/kernels/cpu/simd/vector_baseline.h>
#endif
#include <tessera/kernels/cpu/simd/vector_f64.h>
