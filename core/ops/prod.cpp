#include <tessera/core/ops/prod.h>

#include <vector>

#include <tessera/core/ops/concat.h>
#include <tessera/core/ops/conj.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/pad.h>
#include <tessera/core/ops/permute.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/stack.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {

namespace {

/// What belongs to each element along the last dim (a power of two long) the product of the others.
/// Products of pairs go up a tree; on the way down each node hands its own factor from outside,
/// times its sibling, to its children. No division, so zeros do no harm.
Tensor others_along_last(const Tensor& x) {
  std::vector<Tensor> levels{x};
  while (levels.back().size(-1) > 1) {
    const Tensor& below = levels.back();
    levels.push_back(slice(below, -1, 0, Slice::kEnd, 2) * slice(below, -1, 1, Slice::kEnd, 2));
  }
  Tensor outside = ones(levels.back().shape(), {.dtype = x.dtype(), .device = x.device()});
  for (levels.pop_back(); !levels.empty(); levels.pop_back()) {
    const Tensor even = outside * slice(levels.back(), -1, 1, Slice::kEnd, 2);
    const Tensor odd = outside * slice(levels.back(), -1, 0, Slice::kEnd, 2);
    outside = reshape(stack({even, odd}, -1), levels.back().shape());
  }
  return outside;
}

/// The order of dims that puts reduced ones last.
Dims reduced_last(const DimSet& reduced, int ndim) {
  Dims order;
  for (const bool last : {false, true}) {
    for (int d = 0; d < ndim; ++d) {
      if (reduced[static_cast<std::size_t>(d)] == last) {
        order.push_back(d);
      }
    }
  }
  return order;
}

Tensor product_of_others(const Tensor& x, const ReduceAttrs& attrs) {
  const int ndim = x.ndim();
  if (ndim == 0) {
    return ones({}, {.dtype = x.dtype(), .device = x.device()});  // there are none
  }
  const Dims order = reduced_last(reduced_dims("prod", attrs, ndim), ndim);
  Dims back = order;
  for (int d = 0; d < ndim; ++d) {
    back[static_cast<int>(order[d])] = d;
  }
  const Tensor moved = permute(x, order);
  const int kept = ndim - (attrs.dims.empty() ? ndim : attrs.dims.size());
  const Tensor flat = kept == ndim ? moved : flatten(moved, kept, -1);
  std::int64_t room = 1;
  while (room < flat.size(-1)) {
    room *= 2;
  }
  Dims none = Dims::filled(flat.ndim(), 0);
  Pad::Attrs padding{.before = none, .after = none, .value = 1};
  padding.after[flat.ndim() - 1] = room - flat.size(-1);
  const Tensor others = others_along_last(pad(flat, padding));
  return permute(reshape(slice(others, -1, 0, flat.size(-1)), moved.shape()), back);
}

}  // namespace

void Prod::infer(Infer& c, const Attrs& attrs) {
  const DType dtype = c.input().dtype();
  infer_reduction(c, attrs, is_integral(dtype) ? DType::i64 : dtype);
}

void Prod::reference(Kernel& k, const Attrs& attrs) {
  reduce_elements(k, attrs, []<class T>(std::span<const T> values) {
    T product = 1;
    for (const T value : values) {
      product *= value;
    }
    return product;
  });
}

void Prod::vjp(Vjp& v, const Attrs& attrs) {
  const Tensor g = expand_reduced(v.gradient(), attrs, v.input_meta());
  v.set(0, g * conj(product_of_others(v.input(), attrs)));
}

Tensor prod(const Tensor& x, const Dims& dims, bool keepdim) {
  return call<Prod>({x}, {dims, keepdim});
}

const Register<Prod> register_prod;

}  // namespace tessera
