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

/// As `promoted_dtype`, but integers and bools become f32: for exp, sqrt, division.
[[nodiscard]] DType promoted_float_dtype(const Infer& c);

/// One output in the broadcast shape of all inputs. Throws InvalidArgument when they do not
/// broadcast or lie on different devices.
void infer_elementwise(Infer& c, DType dtype);

/// Every dim of the output can be cut, with the dims of the inputs that align to it.
[[nodiscard]] ShardRule elementwise_rule(const Infer& c);

/// What most elementwise ops share; an op inherits it and adds the rest.
struct Elementwise {
  struct Attrs {
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs&) { infer_elementwise(c, promoted_dtype(c)); }
  static ShardRule shard(const Infer& c, const Attrs&) { return elementwise_rule(c); }
};

/// The same for functions whose values are no integers: those of integers are f32.
struct FloatElementwise : Elementwise {
  static void infer(Infer& c, const Attrs&) { infer_elementwise(c, promoted_float_dtype(c)); }
};

/// The same for questions: their answers are bools.
struct Predicate : Elementwise {
  static void infer(Infer& c, const Attrs&) { infer_elementwise(c, DType::boolean); }
};

namespace detail {

template <class C, int N, class F>
void map_as(Kernel& k, const F& f) {
  TensorImpl& out = k.output();
  std::array<Strides, N + 1> strides{};
  for (int i = 0; i < N; ++i) {
    strides[static_cast<std::size_t>(i)] = broadcast_strides(k.input(i), out.shape);
  }
  strides[N] = out.strides;
  StridedCounter<N + 1> at(out.shape, strides);
  for (std::int64_t n = out.numel(); n > 0; --n, at.next()) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      store_as(out, at.offsets[N], f(load_as<C>(k.input(static_cast<int>(I)), at.offsets[I])...));
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
void map_if_accepted(Kernel& k, const F& f) {
  if constexpr (accepts<F, C, N>()) {
    map_as<C, N>(k, f);
  } else {
    fail<Unsupported>(k.op(), ": no kernel for dtype ", k.input().dtype);
  }
}

}  // namespace detail

/// out[i] = f(in0[i], ..., inN-1[i]) over broadcast inputs. Elements are handed to `f` as int64_t
/// when `computing` is an integer or bool, as double when floating, as complex<double> when
/// complex; all of one call alike. A domain that `f` does not accept throws Unsupported.
///
/// Rounding through double gives the bits of f32 arithmetic for +, -, *, / and sqrt.
template <int N, class F>
void map_elements(Kernel& k, DType computing, const F& f) {
  if (is_complex(computing)) {
    detail::map_if_accepted<std::complex<double>, N>(k, f);
  } else if (is_floating(computing)) {
    detail::map_if_accepted<double, N>(k, f);
  } else {
    detail::map_if_accepted<std::int64_t, N>(k, f);
  }
}

}  // namespace tessera
