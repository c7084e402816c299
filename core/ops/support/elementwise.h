// What elementwise ops share: shape rules, the shard rule, and the loop of reference kernels.
#pragma once

#include <complex>
#include <cstdint>

#include <tessera/core/dispatch/call.h>
#include <tessera/core/tensor/elements.h>

namespace tessera {

/// The dtype of an operation on all inputs. As in PyTorch, 0-d tensors count only when their
/// category (bool, integer, floating, complex) is higher than that of the tensors with dims, and
/// numbers only when theirs is higher than that of both.
[[nodiscard]] DType promoted_dtype(const Infer& c);
[[nodiscard]] DType promoted_dtype(const Kernel& k);

/// The promoted dtype, with f32 in place of integers and bools: for exp, sqrt, division.
[[nodiscard]] DType promoted_float_dtype(const Infer& c);

/// One output in the broadcast shape of all inputs, of which there are `inputs`. Throws
/// InvalidArgument when one is missing, when they do not broadcast, or lie on different devices.
void infer_elementwise(Infer& c, int inputs, DType dtype);

/// Throws InvalidArgument when an input is complex.
void check_real(const Infer& c);

/// Every dim of the output can be cut, with the dims of the inputs that align to it.
[[nodiscard]] ShardRule elementwise_rule(const Infer& c);

/// What most elementwise ops of so many inputs share; an op inherits it and adds the rest, which
/// may be attributes of its own.
template <int kInputs>
struct Elementwise {
  using Attrs = NoAttrs;
  static void infer(Infer& c, const auto&) { infer_elementwise(c, kInputs, promoted_dtype(c)); }
  static ShardRule shard(const Infer& c, const auto&) { return elementwise_rule(c); }
};

/// Elementwise functions whose values are no integers: those of integers are f32.
template <int kInputs>
struct FloatElementwise : Elementwise<kInputs> {
  static void infer(Infer& c, const auto&) {
    infer_elementwise(c, kInputs, promoted_float_dtype(c));
  }
};

/// Elementwise questions: their answers are bools.
template <int kInputs>
struct Predicate : Elementwise<kInputs> {
  static void infer(Infer& c, const auto&) { infer_elementwise(c, kInputs, DType::boolean); }
};

/// Any of them without complex numbers.
template <class Base>
struct RealOnly : Base {
  static void infer(Infer& c, const auto& attrs) {
    check_real(c);
    Base::infer(c, attrs);
  }
};

namespace detail {

/// The element as an operand of arithmetic that results in `narrow` (16- or 32-bit) floats or not:
/// it is rounded to f32 first, or its parts are, whatever dtype it is stored in.
template <class C>
C load_operand(const TensorImpl& x, std::int64_t offset, bool narrow) {
  if constexpr (std::same_as<C, double>) {
    return narrow ? C(load_as<float>(x, offset)) : load_as<C>(x, offset);
  } else if constexpr (std::same_as<C, std::complex<double>>) {
    return narrow ? C(load_as<std::complex<float>>(x, offset)) : load_as<C>(x, offset);
  } else {
    return load_as<C>(x, offset);
  }
}

template <class C, int N, class F>
void map_as(Kernel& k, bool narrow, const F& f) {
  TensorImpl& out = k.output();
  std::array<Strides, N + 1> strides{};
  for (int i = 0; i < N; ++i) {
    strides[static_cast<std::size_t>(i)] = broadcast_strides(k.input(i), out.shape);
  }
  strides[N] = out.strides;
  StridedCounter<N + 1> at(out.shape, strides);
  for (std::int64_t n = out.numel(); n > 0; --n, at.next()) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      store_as(out, at.offsets[N],
               f(load_operand<C>(k.input(static_cast<int>(I)), at.offsets[I], narrow)...));
    }
    (std::make_index_sequence<N>{});
  }
}

template <class F, class C, int N>
constexpr bool accepts() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return requires(const F& f, C x) {
      f(((void)I, x)...);
    };
  }
  (std::make_index_sequence<N>{});
}

template <class C, int N, class F>
void map_if_accepted(Kernel& k, DType computing, const F& f) {
  if constexpr (accepts<F, C, N>()) {
    const DType part = real_of(computing);
    map_as<C, N>(k, is_floating(part) && part != DType::f64, f);
  } else {
    fail<InvalidArgument>(k.op(), ": wrong dtype; got ", computing, ", expected ",
                          accepts<F, double, N>() ? "a floating one" : "an integer one");
  }
}

}  // namespace detail

/// out[i] = f(in0[i], ..., inN-1[i]) over broadcast inputs. Elements are handed to `f` as int64_t
/// when `computing` is an integer or bool, as double when floating, as complex<double> when
/// complex; all of one call alike. A domain that `f` does not accept throws InvalidArgument.
///
/// As in PyTorch, operands of arithmetic in f32 and in 16-bit floats are rounded to f32 first: 0.1
/// in `x * 0.1` is a float there. Rounding results through double then gives the bits of f32
/// arithmetic for +, -, *, / and sqrt.
template <int N, class F>
void map_elements(Kernel& k, DType computing, const F& f) {
  with_computing_type(computing,
                      [&]<class C>() { detail::map_if_accepted<C, N>(k, computing, f); });
}

}  // namespace tessera
