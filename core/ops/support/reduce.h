// What ops share that reduce some dims of their input to one value.
#pragma once

#include <array>
#include <span>
#include <vector>

#include <tessera/core/dispatch/call.h>
#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/tensor/elements.h>

namespace tessera {

/// Which dims to reduce.
struct ReduceAttrs {
  Dims dims;             ///< empty means all
  bool keepdim = false;  ///< reduced dims stay, with size 1
  void fields(auto&& see) const { see("dims", dims), see("keepdim", keepdim); }
  friend bool operator==(const ReduceAttrs&, const ReduceAttrs&) = default;
};

/// For each of `ndim` dims, whether it is reduced. Throws InvalidArgument naming `op` for dims out
/// of range or given twice.
using DimSet = std::array<bool, kMaxDims>;
[[nodiscard]] DimSet reduced_dims(const char* op, const ReduceAttrs& attrs, int ndim);

/// One output: the input's shape without the reduced dims.
void infer_reduction(Infer& c, const ReduceAttrs& attrs, DType dtype);

/// Throws InvalidArgument when there are outputs and each would be reduced from nothing.
void check_not_empty(const Infer& c);

/// All dims can be cut. Along reduced ones the pieces are combined as `partial` says; `none` leaves
/// them apart, which is right for microbatches only.
[[nodiscard]] ShardRule reduction_rule(const Infer& c, const ReduceAttrs& attrs,
                                       ShardRule::Partial partial);

/// What reductions share whose pieces cannot be combined; an op inherits it and adds the rest.
struct OverDims {
  using Attrs = ReduceAttrs;
  static ShardRule shard(const Infer& c, const Attrs& attrs) {
    return reduction_rule(c, attrs, ShardRule::Partial::none);
  }
};

/// How many elements of the input each one of the output is reduced from.
[[nodiscard]] std::int64_t elements_per_output(const TensorMeta& input, const TensorMeta& output);

/// `reduced`, which has the shape of a reduction's output, repeated to the shape of its input.
[[nodiscard]] Tensor expand_reduced(const Tensor& reduced, const ReduceAttrs& attrs,
                                    const TensorMeta& input);

namespace detail {

/// Strides for walking over the outputs of a reduction, and over the elements of one.
struct ReduceStrides {
  Shape outer_shape;
  Strides outer;
  Shape inner_shape;
  Strides inner;
};
[[nodiscard]] ReduceStrides reduce_strides(const char* op, const TensorImpl& x,
                                           const ReduceAttrs& attrs);

template <class C, class F>
void reduce_as(Kernel& k, const ReduceAttrs& attrs, const F& f) {
  const TensorImpl& x = k.input();
  TensorImpl& y = k.output();
  const ReduceStrides strides = reduce_strides(k.op(), x, attrs);
  std::vector<C> values(static_cast<std::size_t>(numel_of(strides.inner_shape)));
  StridedCounter<1> output(strides.outer_shape, {strides.outer});
  for_each_element(y, [&](std::int64_t to) {
    StridedCounter<1> at(strides.inner_shape, {strides.inner});
    for (C& value : values) {
      value = load_as<C>(x, output.offsets[0] + at.offsets[0]);
      at.next();
    }
    store_as(y, to, f(std::span<const C>(values)));
    output.next();
  });
}

}  // namespace detail

/// Output element = f(the elements that it is reduced from, in row-major order). Elements come as
/// int64_t, double or complex<double>; what `f` does not accept throws InvalidArgument.
template <class F>
void reduce_elements(Kernel& k, const ReduceAttrs& attrs, const F& f) {
  with_computing_type(k.input().dtype, [&]<class C>() {
    if constexpr (requires(std::span<const C> values) { f(values); }) {
      detail::reduce_as<C>(k, attrs, f);
    } else {
      fail<InvalidArgument>(k.op(), ": wrong dtype; got ", k.input().dtype,
                            ", expected another kind of numbers");
    }
  });
}

}  // namespace tessera
