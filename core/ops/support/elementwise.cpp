#include <tessera/core/ops/support/elementwise.h>

namespace tessera {
namespace {

int category(DType t) {
  if (is_complex(t)) {
    return 3;
  }
  if (is_floating(t)) {
    return 2;
  }
  return t == DType::boolean ? 0 : 1;
}

/// Promotion of the inputs with dims, or of those without; false when there is none.
bool promote_group(const Infer& c, bool with_dims, DType& result) {
  bool any = false;
  for (int i = 0; i < c.input_count(); ++i) {
    if (c.has_input(i) && (c.input(i).ndim() > 0) == with_dims) {
      result = any ? promote(result, c.input(i).dtype()) : c.input(i).dtype();
      any = true;
    }
  }
  return any;
}

}  // namespace

DType promoted_dtype(const Infer& c) {
  DType dims = DType::boolean;
  DType scalars = DType::boolean;
  const bool any_dims = promote_group(c, true, dims);
  const bool any_scalars = promote_group(c, false, scalars);
  if (!any_dims || !any_scalars) {
    return any_dims ? dims : scalars;
  }
  if (category(scalars) <= category(dims)) {
    return dims;
  }
  // A scalar of a higher category: a number has no width of its own, so it takes the default one.
  if (scalars == DType::f64 || scalars == DType::c128) {
    scalars = is_complex(scalars) ? (dims == DType::f64 ? DType::c128 : DType::c64) : DType::f32;
  }
  return scalars;
}

DType promoted_float_dtype(const Infer& c) {
  const DType dtype = promoted_dtype(c);
  return is_differentiable(dtype) ? dtype : DType::f32;
}

void infer_elementwise(Infer& c, DType dtype) {
  Shape shape = c.input(0).shape();
  for (int i = 1; i < c.input_count(); ++i) {
    if (!c.has_input(i)) {
      continue;
    }
    check(c.input(i).device() == c.input(0).device(), c.op(), ": inputs on different devices; got ",
          c.input(0).device(), " and ", c.input(i).device());
    if (c.input(i).shape() != shape) {
      shape = broadcast_shapes(c.op(), shape, c.input(i).shape());
    }
  }
  c.add_output(shape, dtype);
}

ShardRule elementwise_rule(const Infer& c) {
  const Shape& shape = c.outputs()[0].shape;
  ShardRule rule;
  DimLabels& out = rule.outputs.emplace_back(shape.size());
  for (int d = 0; d < shape.size(); ++d) {
    out[d] = static_cast<std::int8_t>(d);
  }
  for (int i = 0; i < c.input_count(); ++i) {
    DimLabels& in = rule.inputs.emplace_back(c.has_input(i) ? c.input(i).ndim() : 0);
    const int offset = shape.size() - in.size;
    for (int d = 0; d < in.size; ++d) {
      const bool broadcasts = c.input(i).shape()[d] != shape[d + offset];
      in[d] = broadcasts ? DimLabels::kWhole : static_cast<std::int8_t>(d + offset);
    }
  }
  return rule;
}

}  // namespace tessera
