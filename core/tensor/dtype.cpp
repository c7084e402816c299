#include <tessera/core/tensor/dtype.h>

#include <algorithm>
#include <array>

namespace tessera {
namespace {

constexpr std::array<std::string_view, kDTypeCount> kNames{
    "bool", "u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "c64", "c128"};

DType promote_floating(DType a, DType b) {
  const bool both_half = a != b && std::max(a, b) == DType::bf16;  // f16 with bf16 fits neither
  return both_half ? DType::f32 : std::max(a, b);
}

}  // namespace

std::string_view to_string(DType t) noexcept {
  return kNames[static_cast<std::size_t>(t)];
}

DType parse_dtype(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  check(found != kNames.end(), "parse_dtype: unknown dtype; got ", name,
        ", expected bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64, c64 or c128");
  return static_cast<DType>(found - kNames.begin());
}

DType promote(DType a, DType b) noexcept {
  if (a == b) {
    return a;
  }
  const auto [low, high] = std::minmax(a, b);
  if (is_complex(high)) {
    return is_complex(low) || low != DType::f64 ? high : DType::c128;
  }
  if (is_floating(high)) {
    return is_floating(low) ? promote_floating(a, b) : high;
  }
  const bool unsigned_with_i8 = low == DType::u8 && high == DType::i8;
  return unsigned_with_i8 ? DType::i16 : high;
}

DType real_of(DType t) noexcept {
  if (t == DType::c64) {
    return DType::f32;
  }
  return t == DType::c128 ? DType::f64 : t;
}

std::ostream& operator<<(std::ostream& out, DType t) {
  return out << to_string(t);
}

}  // namespace tessera
