#include <tessera/core/ops/cast.h>

#include <cstring>

#include <tessera/kernels/cpu/elementwise.h>
#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/ranges.h>

namespace tessera::cpu {
namespace {

bool cast_kernel(Kernel& k, const Cast::Attrs&) {
  const TensorImpl& x = k.input();
  const TensorImpl& y = k.output();
  if (!x.contiguous() || !y.contiguous()) {
    return false;
  }
  if (x.dtype == y.dtype) {
    constexpr std::int64_t kBytes = std::int64_t{1} << 17;
    for_ranges(x.numel() * static_cast<std::int64_t>(size_of(x.dtype)), kBytes,
               [&](std::int64_t i, std::int64_t n) {
                 std::memcpy(bytes_of(y) + i, bytes_of(x) + i, static_cast<std::size_t>(n));
               });
    return true;
  }
  if (!is_fast(x.dtype) || !is_fast(y.dtype)) {
    return false;
  }
  cast(x.dtype, bytes_of(x), y.dtype, bytes_of(y), x.numel());
  return true;
}

const RegisterKernel<Cast, cast_kernel> registered{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
