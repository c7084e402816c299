#include <tessera/core/ops/reshape.h>

#include <optional>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/support/checks.h>

namespace tessera {
namespace {

Shape resolve(const char* op, const Shape& from, const Shape& to) {
  Shape shape = to;
  int open = -1;
  std::int64_t known = 1;
  for (int d = 0; d < to.size(); ++d) {
    check(to[d] >= -1 && (to[d] != -1 || open < 0), op, ": wrong shape; got ", to,
          ", expected sizes and at most one -1");
    open = to[d] == -1 ? d : open;
    known *= to[d] == -1 ? 1 : to[d];
  }
  if (open >= 0) {
    check(known != 0, op, ": -1 stands for any size in an empty tensor; got ", to,
          ", expected sizes alone for ", from);
    shape[open] = numel_of(from) / known;
  }
  check(numel_of(shape) == numel_of(from), op, ": wrong number of elements; got ", numel_of(shape),
        " in ", to, ", expected ", numel_of(from), " as in ", from);
  return shape;
}

/// Strides that show a tensor in another shape without a copy, or nothing when none do. Walks both
/// shapes from the back, matching runs of dims with equal numbers of elements.
std::optional<Strides> view_strides(const Shape& from, const Strides& strides, const Shape& to) {
  Strides result = contiguous_strides(to);
  if (numel_of(from) == 0) {
    return result;
  }
  int next = to.size() - 1;
  std::int64_t run = 1;      // elements of the input's dims that lie evenly spaced
  std::int64_t matched = 1;  // of them, given to output dims
  std::int64_t step = from.size() > 0 ? strides.back() : 1;
  for (int d = from.size() - 1; d >= 0; --d) {
    run *= from[d];
    const bool ends = d == 0 || (from[d - 1] != 1 && strides[d - 1] != run * step);
    if (!ends) {
      continue;
    }
    while (next >= 0 && (matched < run || to[next] == 1)) {
      result[next] = matched * step;
      matched *= to[next--];
    }
    if (matched != run) {
      return std::nullopt;
    }
    run = matched = 1;
    step = d > 0 ? strides[d - 1] : 1;
  }
  return result;
}

/// Gives the outermost real dims of two runs with equal numbers of elements the same label: cutting
/// there cuts both runs into the same blocks.
void label_run(const Shape& from, int i, DimLabels& in, const Shape& to, int o, DimLabels& out,
               int end_in, int end_out) {
  while (i < end_in && from[i] == 1) {
    ++i;
  }
  while (o < end_out && to[o] == 1) {
    ++o;
  }
  if (i < end_in && o < end_out) {
    in[i] = out[o] = static_cast<std::int8_t>(i);
  }
}

}  // namespace

void Reshape::infer(Infer& c, const Attrs& attrs) {
  c.add_output(resolve("reshape", c.input().shape(), attrs.shape), c.input().dtype());
}

void Reshape::alias(const TensorImpl& in, TensorImpl& out, int, const Attrs&) {
  const auto strides = view_strides(in.shape, in.strides, out.shape);
  check(strides.has_value(), "reshape: the strides allow no view; got ", in.shape, " with strides ",
        in.strides, ", expected ", out.shape);
  out.strides = *strides;
}

void Reshape::vjp(Vjp& v, const Attrs&) {
  v.set(0, reshape(v.gradient(), v.input_meta().shape));
}

ShardRule Reshape::shard(const Infer& c, const Attrs&) {
  const Shape& from = c.input().shape();
  const Shape& to = c.outputs()[0].shape;
  ShardRule rule;
  DimLabels& in = rule.inputs.emplace_back(from.size());
  DimLabels& out = rule.outputs.emplace_back(to.size());
  int i = 0;
  int o = 0;
  while (i < from.size() && o < to.size() && numel_of(from) > 0) {
    const int first_in = i;
    const int first_out = o;
    std::int64_t have = from[i++];
    std::int64_t want = to[o++];
    while (have != want) {
      (have < want ? have : want) *= have < want ? from[i++] : to[o++];
    }
    label_run(from, first_in, in, to, first_out, out, i, o);
  }
  return rule;
}

Tensor reshape(const Tensor& x, const Shape& shape) {
  const Shape from = unstacked_shape(x);
  Strides strides = x.strides();
  if (x.microbatches().per_microbatch) {
    strides.erase(0);
  }
  if (!x.is_contiguous() && !view_strides(from, strides, resolve("reshape", from, shape))) {
    return call<Reshape>({clone(x)}, {shape});
  }
  return call<Reshape>({x}, {shape});
}

Tensor flatten(const Tensor& x, int first, int last) {
  const Shape shape = unstacked_shape(x);
  const int begin = normalize_dim("flatten", first, shape.size());
  const int end = normalize_dim("flatten", last, shape.size());
  check(begin <= end, "flatten: dims in wrong order; got ", first, " to ", last,
        ", expected the lower one first");
  Shape merged;
  for (int d = 0; d < shape.size(); ++d) {
    if (d > begin && d <= end) {
      merged[begin] *= shape[d];
    } else {
      merged.push_back(shape[d]);
    }
  }
  return reshape(x, shape.empty() ? Shape{1} : merged);
}

Tensor unflatten(const Tensor& x, int dim, const Shape& sizes) {
  const Shape shape = unstacked_shape(x);
  const int at = normalize_dim("unflatten", dim, shape.size());
  check_has_dims("unflatten", shape);
  check_at_least("unflatten", "number of sizes", sizes.size(), 1);
  Shape split;
  for (int d = 0; d < shape.size(); ++d) {
    if (d != at) {
      split.push_back(shape[d]);
      continue;
    }
    for (const std::int64_t size : resolve("unflatten", Shape{shape[d]}, sizes)) {
      split.push_back(size);
    }
  }
  return reshape(x, split);
}

const Register<Reshape> register_reshape;

}  // namespace tessera
