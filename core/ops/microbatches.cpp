#include <tessera/core/ops/microbatches.h>

#include <algorithm>
#include <complex>
#include <vector>

#include <tessera/core/base/tree.h>
#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/tensor/elements.h>

namespace tessera {

// Note [Borders and memory]. Taking apart, repeating and telling where a tensor is cut give views:
// only strides and borders change. Joining copies, since pieces come from different calls. Their
// gradients are each other: unbind and join, sum and repeat. All of them work on borders, so the
// split stage leaves their calls alone.

void UnbindMicrobatches::infer(Infer& c, const Attrs&) {
  const Tensor& x = c.input();
  const MicrobatchLayout layout = x.microbatches();
  check(static_cast<bool>(layout), "unbind_microbatches: x holds no microbatches; got shape ",
        x.shape(), ", expected a tensor that is cut into them");
  Shape shape = x.shape();
  if (layout.per_microbatch) {
    shape.erase(0);
  } else {
    shape[layout.dim] /= layout.count;
  }
  for (std::int32_t m = 0; m < layout.count; ++m) {
    c.add_output(shape, x.dtype());
  }
}

void UnbindMicrobatches::alias(const TensorImpl& in, TensorImpl& out, int index, const Attrs&) {
  const MicrobatchLayout& layout = in.microbatches();
  out.offset += index * (in.shape[layout.dim] / layout.count) * in.strides[layout.dim];
  if (layout.per_microbatch) {
    out.strides.erase(0);
  }
}

void UnbindMicrobatches::vjp(Vjp& v, const Attrs&) {
  std::vector<Tensor> gradients;
  for (std::int32_t m = 0; m < v.input_meta().microbatches.count; ++m) {
    gradients.push_back(v.gradient(m));
  }
  const std::vector<TensorRef> pieces(gradients.begin(), gradients.end());
  v.set(0, join_microbatches(pieces, v.input_meta().microbatches));
}

void JoinMicrobatches::infer(Infer& c, const Attrs& attrs) {
  Shape shape = c.input().shape();
  const auto microbatch_count = static_cast<std::int32_t>(c.input_count());
  for (int i = 1; i < microbatch_count; ++i) {
    check_shape("join_microbatches", "a microbatch", c.input(i).shape(), shape);
    check(c.input(i).dtype() == c.input().dtype(),
          "join_microbatches: wrong dtype of a microbatch; got ", c.input(i).dtype(), ", expected ",
          c.input().dtype());
  }
  const bool per_microbatch = attrs.dim < 0;
  check(attrs.dim < shape.size(), "join_microbatches: dim out of range; got ", attrs.dim,
        ", expected less than ", shape.size(), " for shape ", shape);
  if (per_microbatch) {
    shape.insert(0, microbatch_count);
  } else {
    shape[attrs.dim] *= microbatch_count;
  }
  c.add_output(shape, c.input().dtype(),
               {.count = microbatch_count,
                .dim = static_cast<std::int8_t>(per_microbatch ? 0 : attrs.dim),
                .per_microbatch = per_microbatch,
                .samples = attrs.samples});
}

void JoinMicrobatches::reference(Kernel& k, const Attrs& attrs) {
  TensorImpl& out = k.output();
  Strides to = out.strides;
  const int dim = attrs.dim < 0 ? 0 : attrs.dim;
  std::int64_t step = out.strides[dim];
  if (attrs.dim < 0) {
    to.erase(0);
  } else {
    step *= k.input().shape[dim];
  }
  visit_dtype(out.dtype, [&]<class T>() {
    for (int m = 0; m < k.input_count(); ++m) {
      const TensorImpl& piece = k.input(m);
      StridedCounter<2> at(piece.shape, {piece.strides, to});
      for (std::int64_t n = piece.numel(); n > 0; --n, at.next()) {
        out.data<T>()[m * step + at.offsets[1]] = piece.data<T>()[at.offsets[0]];
      }
    }
  });
}

void JoinMicrobatches::vjp(Vjp& v, const Attrs&) {
  Tensor gradient = v.gradient();
  if (!gradient.microbatches()) {  // pieces of one microbatch alone have none
    gradient.get().set_microbatches(v.output_meta().microbatches);
  }
  const Outputs pieces = unbind_microbatches(gradient);
  for (int m = 0; m < v.input_count(); ++m) {
    v.set(m, pieces[static_cast<std::size_t>(m)]);
  }
}

void SumMicrobatches::infer(Infer& c, const Attrs&) {
  const Tensor& x = c.input();
  check(x.microbatches().per_microbatch,
        "sum_microbatches: x holds no stacked microbatches; got shape ", x.shape(),
        ", expected one microbatch at each index of dim 0");
  Shape shape = x.shape();
  shape.erase(0);
  c.add_output(shape, x.dtype());
}

void SumMicrobatches::reference(Kernel& k, const Attrs&) {
  const TensorImpl& x = k.input();
  const std::int64_t microbatch_count = x.shape[0];
  visit_dtype(x.dtype, [&]<class T>() {
    using Total = decltype([] {
      if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
        return float{};
      } else if constexpr (std::is_integral_v<T>) {
        return std::int64_t{};
      } else {
        return T{};
      }
    }());
    std::vector<Total> blocks;
    for_each_element(x,
                     [&](std::int64_t at) { blocks.push_back(convert<Total>(x.data<T>()[at])); });
    tree_sum(blocks, microbatch_count, x.numel() / microbatch_count);
    std::size_t next = 0;
    TensorImpl& out = k.output();
    for_each_element(out, [&](std::int64_t at) { out.data<T>()[at] = convert<T>(blocks[next++]); });
  });
}

void SumMicrobatches::vjp(Vjp& v, const Attrs&) {
  v.set(0, repeat_microbatches(v.gradient(), v.input_meta().microbatches.count));
}

void RepeatMicrobatches::infer(Infer& c, const Attrs& attrs) {
  check_at_least("repeat_microbatches", "number of microbatches", attrs.count, 1);
  Shape shape = c.input().shape();
  shape.insert(0, attrs.count);
  c.add_output(shape, c.input().dtype(), {.count = attrs.count, .dim = 0, .per_microbatch = true});
}

void RepeatMicrobatches::alias(const TensorImpl&, TensorImpl& out, int, const Attrs&) {
  out.strides.insert(0, 0);
}

void RepeatMicrobatches::vjp(Vjp& v, const Attrs&) {
  const bool add = v.context().batch_sum == BatchSum::tree;
  v.set(0, add ? sum_microbatches(v.gradient(), v.destination(0)) : v.gradient());
}

void AsMicrobatches::infer(Infer& c, const Attrs& attrs) {
  const Tensor& x = c.input();
  const bool fits = attrs.dim >= 0 && attrs.dim < x.ndim() && attrs.count >= 1 &&
                    x.shape()[attrs.dim] % attrs.count == 0 &&
                    (!attrs.per_microbatch || x.shape()[0] == attrs.count);
  check(fits && !x.microbatches(), "as_microbatches: cannot be cut; got shape ", x.shape(),
        " and dim ", attrs.dim, ", expected a dim of ", attrs.count, " equal pieces");
  c.add_output(x.shape(), x.dtype(),
               {.count = attrs.count,
                .dim = static_cast<std::int8_t>(attrs.dim),
                .per_microbatch = attrs.per_microbatch,
                .samples = attrs.samples});
}

void AsMicrobatches::alias(const TensorImpl&, TensorImpl&, int, const Attrs&) {}

void AsMicrobatches::vjp(Vjp& v, const Attrs&) {
  v.set(0, v.gradient());
}

Outputs unbind_microbatches(const Tensor& x) {
  return call_all<UnbindMicrobatches>({x});
}

Tensor join_microbatches(std::span<const TensorRef> pieces, int dim, int samples) {
  return call<JoinMicrobatches>(pieces, {dim, static_cast<std::int8_t>(samples)});
}

Tensor lay_microbatches(const Tensor& x, int dim) {
  const Outputs pieces = unbind_microbatches(x);
  return join_microbatches(std::vector<TensorRef>(pieces.begin(), pieces.end()), dim);
}

Tensor with_borders(const Tensor& x, const MicrobatchLayout& layout) {
  return call<AsMicrobatches>({x},
                              {layout.count, layout.dim, layout.per_microbatch, layout.samples});
}

Tensor lay_as(Tensor x, const Tensor& like) {
  if (x.defined() && like.defined() && like.microbatches() && !x.microbatches() &&
      x.shape() == like.shape()) {
    return with_borders(x, like.microbatches());
  }
  const bool along = like.defined() && like.microbatches() && !like.microbatches().per_microbatch;
  const bool fits = along && x.defined() && x.microbatches().per_microbatch &&
                    like.microbatches().dim < x.ndim() - 1;
  return fits ? lay_microbatches(x, like.microbatches().dim) : x;
}

Tensor stack_microbatches(const Tensor& x) {
  const Outputs pieces = unbind_microbatches(x);
  return join_microbatches(std::vector<TensorRef>(pieces.begin(), pieces.end()), -1,
                           x.microbatches().sample_dim());
}

void stack_alike(std::span<Tensor> values) {
  const auto stacked = [](const Tensor& x) {
    return x.defined() && x.microbatches().per_microbatch;
  };
  if (std::ranges::none_of(values, stacked)) {
    return;
  }
  for (Tensor& x : values) {
    if (x.defined() && x.microbatches() && !x.microbatches().per_microbatch) {
      x = stack_microbatches(x);
    }
  }
}

Tensor sum_microbatches(const Tensor& x, const Tensor& destination) {
  return call_into<SumMicrobatches>(destination, {x});
}

Tensor as_microbatches(const Tensor& x, std::int32_t count, int dim) {
  return call<AsMicrobatches>({x}, {count, dim});
}

Tensor repeat_microbatches(const Tensor& x, std::int32_t count) {
  return call<RepeatMicrobatches>({x}, {count});
}

const Register<UnbindMicrobatches> register_unbind_microbatches;
const Register<JoinMicrobatches> register_join_microbatches;
const Register<SumMicrobatches> register_sum_microbatches;
const Register<RepeatMicrobatches> register_repeat_microbatches;
const Register<AsMicrobatches> register_as_microbatches;

}  // namespace tessera
