// Element types, their promotion rules, and the bridge from a run-time dtype to a C++ type.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string_view>

#include <tessera/core/base/error.h>
#include <tessera/core/tensor/half.h>

namespace tessera {

enum class DType : std::uint8_t { boolean, u8, i8, i16, i32, i64, f16, bf16, f32, f64, c64, c128 };

inline constexpr int kDTypeCount = 12;

namespace detail {
inline constexpr std::array<std::uint8_t, kDTypeCount> kElementSizes{1, 1, 1, 2, 4, 8,
                                                                     2, 2, 4, 8, 8, 16};
}  // namespace detail

/// The bytes of an element.
[[nodiscard]] constexpr std::size_t size_of(DType t) noexcept {
  return detail::kElementSizes[static_cast<std::size_t>(t)];
}
/// The short name, as printed and as written to files: "f32", "bool", ...
[[nodiscard]] std::string_view to_string(DType) noexcept;
/// Inverse of `to_string`. Throws InvalidArgument for anything else.
[[nodiscard]] DType parse_dtype(std::string_view);

[[nodiscard]] constexpr bool is_complex(DType t) noexcept {
  return t == DType::c64 || t == DType::c128;
}
[[nodiscard]] constexpr bool is_floating(DType t) noexcept {
  return t >= DType::f16 && t <= DType::f64;
}
/// Floating or complex: what can require a gradient.
[[nodiscard]] constexpr bool is_differentiable(DType t) noexcept {
  return t >= DType::f16;
}
[[nodiscard]] constexpr bool is_integral(DType t) noexcept {
  return t <= DType::i64;
}

/// The dtype of an operation between two tensors of at least one dimension, by PyTorch's rules:
/// the higher category (bool, integer, floating, complex) wins, inside it the smallest type that
/// holds both.
[[nodiscard]] DType promote(DType, DType) noexcept;
/// The real dtype of a complex one's parts; any other dtype is returned unchanged.
[[nodiscard]] DType real_of(DType) noexcept;

std::ostream& operator<<(std::ostream&, DType);

template <class T>
struct DTypeOf;
#define TESSERA_DTYPE(type, name)               \
  template <>                                   \
  struct DTypeOf<type> {                        \
    static constexpr DType value = DType::name; \
  }
TESSERA_DTYPE(bool, boolean);
TESSERA_DTYPE(std::uint8_t, u8);
TESSERA_DTYPE(std::int8_t, i8);
TESSERA_DTYPE(std::int16_t, i16);
TESSERA_DTYPE(std::int32_t, i32);
TESSERA_DTYPE(std::int64_t, i64);
TESSERA_DTYPE(Float16, f16);
TESSERA_DTYPE(BFloat16, bf16);
TESSERA_DTYPE(float, f32);
TESSERA_DTYPE(double, f64);
TESSERA_DTYPE(std::complex<float>, c64);
TESSERA_DTYPE(std::complex<double>, c128);
#undef TESSERA_DTYPE

template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

/// Calls `f.template operator()<T>()` with the C++ type of `dtype`.
template <class F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::boolean:
      return f.template operator()<bool>();
    case DType::u8:
      return f.template operator()<std::uint8_t>();
    case DType::i8:
      return f.template operator()<std::int8_t>();
    case DType::i16:
      return f.template operator()<std::int16_t>();
    case DType::i32:
      return f.template operator()<std::int32_t>();
    case DType::i64:
      return f.template operator()<std::int64_t>();
    case DType::f16:
      return f.template operator()<Float16>();
    case DType::bf16:
      return f.template operator()<BFloat16>();
    case DType::f32:
      return f.template operator()<float>();
    case DType::f64:
      return f.template operator()<double>();
    case DType::c64:
      return f.template operator()<std::complex<float>>();
    case DType::c128:
      return f.template operator()<std::complex<double>>();
  }
  fail<InternalError>("visit_dtype: unknown dtype");
}

}  // namespace tessera
