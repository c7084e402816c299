#include <tessera/core/ops/attention.h>

#include <limits>

#include <tessera/core/dispatch/autocast.h>
#include <tessera/core/dispatch/call_context.h>
#include <tessera/core/dispatch/split_plan.h>
#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/dense.h>
#include <tessera/core/ops/support/draw.h>
#include <tessera/core/ops/support/factors.h>
#include <tessera/core/ops/support/saved_inputs.h>

namespace tessera {
namespace {

Shape score_shape(const Shape& q, const Shape& k) {
  return {q[0], q[1], q[2], k[2]};
}

Shape sums_shape(const Shape& q) {
  return {q[0], q[1], q[2], 2};
}

/// What is added to the scores, in their shape; empty without a mask.
std::vector<double> mask_values(const TensorImpl& mask, const Shape& scores) {
  std::vector<double> values;
  StridedCounter<1> at(scores, {broadcast_strides(mask, scores)});
  for (std::int64_t n = numel_of(scores); n > 0; --n, at.next()) {
    if (mask.dtype == DType::boolean) {
      const bool seen = mask.data<bool>()[at.offsets[0]];
      values.push_back(seen ? 0 : -std::numeric_limits<double>::infinity());
    } else {
      values.push_back(load_as<double>(mask, at.offsets[0]));
    }
  }
  return values;
}

AttentionProblem problem_of(const TensorImpl& q, const TensorImpl& k, const TensorImpl* mask,
                            const AttentionAttrs& attrs) {
  AttentionProblem p{.attrs = attrs,
                     .batch = q.shape[0],
                     .heads = q.shape[1],
                     .kv_heads = k.shape[1],
                     .queries = q.shape[2],
                     .keys = k.shape[2],
                     .size = q.shape[3],
                     .q = HeadLayout::dense(q.shape),
                     .k = HeadLayout::dense(k.shape),
                     .v = HeadLayout::dense(k.shape),
                     .y = HeadLayout::dense(q.shape),
                     .mask = {},
                     .in_f32 = q.dtype != DType::f64};
  if (mask != nullptr) {
    p.mask = mask_values(*mask, score_shape(q.shape, k.shape));
  }
  return p;
}

void check_shapes(const char* op, const Shape& q, const Shape& k, const Shape& v) {
  constexpr const char* kLayout = "(batch, heads, time, size)";
  check_layout(q.size() == 4, op, "queries", q, kLayout);
  check_layout(k.size() == 4, op, "keys", k, kLayout);
  check_shape(op, "values", v, k);
  check(q[0] == k[0] && q[3] == k[3], op, ": wrong shape of keys; got ", k, ", expected batch ",
        q[0], " and size ", q[3], " as in queries ", q);
  check(k[1] > 0 ? q[1] % k[1] == 0 : q[1] == 0, op, ": wrong number of heads of keys; got ", k[1],
        ", expected a divisor of ", q[1], " heads of queries");
}

void check_mask(const char* op, const Tensor& mask, const Shape& scores) {
  check_dtype(mask.dtype() == DType::boolean || is_floating(mask.dtype()), op, "mask", mask.dtype(),
              "bool, f16, bf16, f32 or f64");
  check(!mask.requires_grad(), op,
        ": the mask gets no gradient; got one that requires it, expected what its detach() gives");
  check(broadcast_shapes(op, mask.shape(), scores) == scores, op, ": the mask does not fit; got ",
        mask.shape(), ", expected ", scores);
}

/// q, k and v are the inputs from number `first` on; the mask, if there is one, is input `mask`.
void check_inputs(const Infer& c, int first, int mask) {
  const Tensor& q = c.input(first);
  const Tensor& k = c.input(first + 1);
  const Tensor& v = c.input(first + 2);
  check_shapes(c.op(), q.shape(), k.shape(), v.shape());
  check_floating(c.op(), "queries", q.dtype());
  check(k.dtype() == q.dtype() && v.dtype() == q.dtype(), c.op(),
        ": wrong dtype of keys or values; got ", k.dtype(), " and ", v.dtype(), ", expected ",
        q.dtype(), " as of the queries");
  if (c.has_input(mask)) {
    check_mask(c.op(), c.input(mask), score_shape(q.shape(), k.shape()));
    check_not_narrowed(c.op(), "mask", c.input(mask).dtype(), q.dtype());
  }
}

/// Fewer heads of keys are cut where their groups of queries are.
DimLabels batch_and_heads() {
  return DimLabels::numbered(4, 2);
}

DimLabels mask_labels(const Tensor& mask, const Tensor& q) {
  DimLabels labels(mask.ndim());
  if (mask.ndim() == 4 && mask.shape()[0] == q.shape()[0]) {
    labels[0] = 0;
  }
  const int head_dim = mask.ndim() - 3;
  if (head_dim >= 0 && mask.shape()[head_dim] == q.shape()[1]) {
    labels[head_dim] = 1;
  }
  return labels;
}

}  // namespace

void Attention::infer(Infer& c, const Attrs& attrs) {
  check_inputs(c, 0, 3);
  const Tensor& q = c.input(0);
  c.add_output(q.shape(), attrs.dtype);
  c.add_output(sums_shape(q.shape()), statistics_dtype(q.dtype()));
}

void Attention::reference(Kernel& k, const Attrs& attrs) {
  const TensorImpl* mask = k.has_input(3) ? &k.input(3) : nullptr;
  const AttentionProblem problem = problem_of(k.input(0), k.input(1), mask, attrs);
  const AttentionData x{dense_values<double>(k.input(0), attrs.dtype),
                        dense_values<double>(k.input(1), attrs.dtype),
                        dense_values<double>(k.input(2), attrs.dtype)};
  std::vector<double> y(x.q.size());
  std::vector<double> sums;
  attention_forward(problem, x, y, sums);
  store_values(k.output(0), y);
  store_values(k.output(1), sums);
}

void Attention::vjp(Vjp& v, const Attrs& attrs) {
  check<Unsupported>(!v.has_gradient(1),
                     "attention: the sums of scores have no gradient; detach them");
  check<Unsupported>(!v.context().record,
                     "attention: second derivatives are not supported; write the ",
                     "product of matrices and softmax out");
  const Tensor mask = v.has_input(3) ? v.input(3) : Tensor();
  const Outputs results = call_all<AttentionBackward>(
      {v.gradient(), v.input(0), v.input(1), v.input(2), v.output(0), v.output(1), mask}, attrs);
  for (int i = 0; i < 3; ++i) {
    v.set(i, [&] { return results[static_cast<std::size_t>(i)]; });
  }
}

ShardRule Attention::shard(const Infer& c, const Attrs&) {
  ShardRule rule;
  for (int i = 0; i < 3; ++i) {
    rule.inputs.push_back(batch_and_heads());
  }
  if (c.input_count() > 3) {
    rule.inputs.push_back(c.has_input(3) ? mask_labels(c.input(3), c.input(0)) : DimLabels(0));
  }
  rule.outputs.push_back(batch_and_heads());
  rule.outputs.push_back(batch_and_heads());
  return rule;
}

void AttentionBackward::infer(Infer& c, const Attrs&) {
  check_inputs(c, 1, 6);
  const Shape& q = c.input(1).shape();
  check_saved(c, 0, q);
  check_saved(c, 4, q);
  check_saved(c, 5, sums_shape(q));
  for (int i = 1; i < 4; ++i) {
    c.add_output(c.input(i).shape(), c.input(i).dtype());
  }
}

void AttentionBackward::reference(Kernel& k, const Attrs& attrs) {
  const TensorImpl* mask = k.has_input(6) ? &k.input(6) : nullptr;
  const AttentionProblem problem = problem_of(k.input(1), k.input(2), mask, attrs);
  const AttentionData x{dense_values<double>(k.input(1), attrs.dtype),
                        dense_values<double>(k.input(2), attrs.dtype),
                        dense_values<double>(k.input(3), attrs.dtype)};
  AttentionData to{std::vector<double>(x.q.size()), std::vector<double>(x.k.size()),
                   std::vector<double>(x.v.size())};
  attention_backward(problem, x, dense_values<double>(k.input(0)), dense_values<double>(k.input(5)),
                     to);
  store_values(k.output(0), to.q);
  store_values(k.output(1), to.k);
  store_values(k.output(2), to.v);
}

ShardRule AttentionBackward::shard(const Infer& c, const Attrs&) {
  ShardRule rule;
  for (int i = 0; i < 6; ++i) {
    rule.inputs.push_back(batch_and_heads());
  }
  if (c.input_count() > 6) {
    rule.inputs.push_back(c.has_input(6) ? mask_labels(c.input(6), c.input(1)) : DimLabels(0));
  }
  for (int i = 0; i < 3; ++i) {
    rule.outputs.push_back(batch_and_heads());
  }
  return rule;
}

AttentionAttrs attention_attrs(const Tensor& x, const AttentionOptions& options) {
  check_probability("attention", "dropout", options.dropout);
  const CallContext context = CallContext::current();
  AttentionAttrs attrs{
      .causal = options.causal, .scale = options.scale, .dtype = context.compute_dtype(x.dtype())};
  if (options.dropout > 0) {
    const bool whole = context.pass->count > 1 && !x.microbatches();
    if (x.microbatches().per_microbatch || x.microbatches().dim > 0 || whole) {
      fail_on_microbatches("attention", "needs the samples in dim 0 for dropout");
    }
    const Draw draw = new_draw(x);
    check<Unsupported>(draw.samples > 0,
                       "attention: draws dropout for each sample, which a StepDraws does not");
    attrs.dropout = options.dropout;
    attrs.key = draw.key;
    attrs.first_sample = draw.first_sample;
  }
  return attrs;
}

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options,
                 const Tensor& mask) {
  static_cast<void>(product_dtype("attention", {{"q", q}, {"k", k}, {"v", v}}));
  const bool narrow = mask.defined() && is_floating(mask.dtype()) && size_of(mask.dtype()) == 2;
  const Tensor added = narrow ? cast(mask, DType::f32) : mask;  // what fast kernels read
  return call_all<Attention>({q, k, v, added}, attention_attrs(q, options))[0];
}

const Register<Attention> register_attention;
const Register<AttentionBackward> register_attention_backward;

}  // namespace tessera
