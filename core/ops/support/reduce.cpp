#include <tessera/core/ops/support/reduce.h>

#include <algorithm>

#include <tessera/core/ops/expand.h>
#include <tessera/core/ops/unsqueeze.h>

namespace tessera {

DimSet reduced_dims(const char* op, const ReduceAttrs& attrs, int ndim) {
  DimSet reduced{};
  if (attrs.dims.empty()) {
    reduced.fill(true);
  }
  for (const std::int64_t dim : attrs.dims) {
    bool& chosen = reduced[static_cast<std::size_t>(normalize_dim(op, dim, ndim))];
    check(!chosen, op, ": a dim is given twice; got ", attrs.dims, ", expected each once");
    chosen = true;
  }
  return reduced;
}

void infer_reduction(Infer& c, const ReduceAttrs& attrs, DType dtype) {
  const Shape& from = c.input().shape();
  const DimSet reduced = reduced_dims(c.op(), attrs, from.size());
  Shape shape;
  for (int d = 0; d < from.size(); ++d) {
    if (!reduced[static_cast<std::size_t>(d)]) {
      shape.push_back(from[d]);
    } else if (attrs.keepdim) {
      shape.push_back(1);
    }
  }
  c.add_output(shape, dtype);
}

void check_not_empty(const Infer& c) {
  check(c.input().numel() > 0 || numel_of(c.outputs()[0].shape) == 0, c.op(),
        ": nothing to choose from; got shape ", c.input().shape(),
        ", expected at least one element");
}

ShardRule reduction_rule(const Infer& c, const ReduceAttrs& attrs, ShardRule::Partial partial) {
  const int ndim = c.input().ndim();
  const DimSet reduced = reduced_dims(c.op(), attrs, ndim);
  ShardRule rule{.partial = partial};
  const DimLabels& in = rule.inputs.emplace_back(DimLabels::numbered(ndim));
  DimLabels& out = rule.outputs.emplace_back(c.outputs()[0].shape.size());
  int next = 0;
  for (int d = 0; d < ndim; ++d) {
    if (!reduced[static_cast<std::size_t>(d)]) {
      out[next++] = in[d];
    } else {
      next += attrs.keepdim ? 1 : 0;
    }
  }
  return rule;
}

std::int64_t elements_per_output(const TensorMeta& input, const TensorMeta& output) {
  return numel_of(input.shape) / std::max<std::int64_t>(numel_of(output.shape), 1);
}

Tensor expand_reduced(const Tensor& reduced, const ReduceAttrs& attrs, const TensorMeta& input) {
  Tensor result = reduced;
  if (!attrs.keepdim) {
    const int ndim = input.shape.size();
    const DimSet dims = reduced_dims("expand_reduced", attrs, ndim);
    for (int d = 0; d < ndim; ++d) {
      if (dims[static_cast<std::size_t>(d)]) {
        result = unsqueeze(result, d);
      }
    }
  }
  return expand_like(result, input);
}

detail::ReduceStrides detail::reduce_strides(const char* op, const TensorImpl& x,
                                             const ReduceAttrs& attrs) {
  const DimSet reduced = reduced_dims(op, attrs, x.shape.size());
  ReduceStrides strides;
  for (int d = 0; d < x.shape.size(); ++d) {
    const bool inner = reduced[static_cast<std::size_t>(d)];
    (inner ? strides.inner_shape : strides.outer_shape).push_back(x.shape[d]);
    (inner ? strides.inner : strides.outer).push_back(x.strides[d]);
  }
  return strides;
}

}  // namespace tessera
