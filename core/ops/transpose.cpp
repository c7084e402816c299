#include <tessera/core/ops/transpose.h>

#include <tessera/core/dispatch/vjp.h>

namespace tessera {
namespace {

/// Swaps two entries of a list with one for each of `ndim` dims. A tensor of no dims takes dim 0,
/// and has no entry.
template <class List>
void swap_dims(List& list, int ndim, const Transpose::Attrs& attrs) {
  const int first = normalize_dim("transpose", attrs.first, ndim);
  const int second = normalize_dim("transpose", attrs.second, ndim);
  if (ndim > 0) {
    std::swap(list[first], list[second]);
  }
}

}  // namespace

void Transpose::infer(Infer& c, const Attrs& attrs) {
  const Tensor& x = c.input();
  Shape shape = x.shape();
  swap_dims(shape, x.ndim(), attrs);
  c.add_output(shape, x.dtype());
}

void Transpose::alias(const TensorImpl& in, TensorImpl& out, int, const Attrs& attrs) {
  swap_dims(out.strides, in.shape.size(), attrs);
}

void Transpose::vjp(Vjp& v, const Attrs& attrs) {
  v.set(0, transpose(v.gradient(), attrs.first, attrs.second));
}

ShardRule Transpose::shard(const Infer& c, const Attrs& attrs) {
  const DimLabels in = DimLabels::numbered(c.input().ndim());
  DimLabels out = in;
  swap_dims(out, in.size, attrs);
  return {.inputs = {in}, .outputs = {out}};
}

Tensor transpose(const Tensor& x, int first, int second) {
  return call<Transpose>({x}, {first, second});
}

const Register<Transpose> register_transpose;

}  // namespace tessera
