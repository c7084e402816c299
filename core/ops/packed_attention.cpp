#include <tessera/core/ops/packed_attention.h>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/dense.h>
#include <tessera/core/ops/support/saved_inputs.h>

namespace tessera {
namespace {

AttentionProblem problem_of(const TensorImpl& qkv, const PackedAttentionAttrs& attrs) {
  const std::int64_t time = qkv.shape[1];
  const std::int64_t width = qkv.shape[2];
  const std::int64_t size = width / (attrs.heads + 2 * attrs.kv_heads);
  const HeadLayout packed{.offset = 0, .batch = time * width, .head = size, .row = width};
  AttentionProblem p{.attrs = attrs.attention,
                     .batch = qkv.shape[0],
                     .heads = attrs.heads,
                     .kv_heads = attrs.kv_heads,
                     .queries = time,
                     .keys = time,
                     .size = size,
                     .q = packed,
                     .k = packed,
                     .v = packed,
                     .y = {},
                     .mask = {},
                     .in_f32 = qkv.dtype != DType::f64};
  p.k.offset = attrs.heads * size;
  p.v.offset = (attrs.heads + attrs.kv_heads) * size;
  p.y = {.offset = 0, .batch = time * attrs.heads * size, .head = size, .row = attrs.heads * size};
  return p;
}

Shape output_shape(const Shape& qkv, const PackedAttentionAttrs& attrs) {
  return {qkv[0], qkv[1], qkv[2] / (attrs.heads + 2 * attrs.kv_heads) * attrs.heads};
}

Shape sums_shape(const Shape& qkv, const PackedAttentionAttrs& attrs) {
  return {qkv[0], attrs.heads, qkv[1], 2};
}

void check_packed(const char* op, const Tensor& x, const PackedAttentionAttrs& attrs) {
  const Shape& shape = x.shape();
  const std::int64_t all_heads = attrs.heads + 2 * attrs.kv_heads;
  check_layout(shape.size() == 3, op, "x", shape, "(batch, time, width)");
  check_floating(op, "x", x.dtype());
  check(attrs.kv_heads > 0 && attrs.heads > 0 && attrs.heads % attrs.kv_heads == 0, op,
        ": wrong number of heads of keys; got ", attrs.kv_heads, ", expected a divisor of ",
        attrs.heads, " heads of queries");
  check(shape[2] % all_heads == 0, op, ": width is not divisible by heads; got ", shape[2],
        ", expected a multiple of ", all_heads);
}

}  // namespace

void PackedAttention::infer(Infer& c, const Attrs& attrs) {
  const Tensor& x = c.input(0);
  check_packed(c.op(), x, attrs);
  c.add_output(output_shape(x.shape(), attrs), attrs.attention.dtype);
  c.add_output(sums_shape(x.shape(), attrs), statistics_dtype(x.dtype()));
}

void PackedAttention::reference(Kernel& k, const Attrs& attrs) {
  const std::vector<double> x = dense_values<double>(k.input(), attrs.attention.dtype);
  std::vector<double> y(static_cast<std::size_t>(k.output().numel()));
  std::vector<double> sums;
  attention_forward(problem_of(k.input(), attrs), {x, x, x}, y, sums);
  store_values(k.output(0), y);
  store_values(k.output(1), sums);
}

void PackedAttention::vjp(Vjp& v, const Attrs& attrs) {
  check<Unsupported>(!v.has_gradient(1),
                     "packed_attention: the sums of scores have no gradient; detach them");
  check<Unsupported>(!v.context().record,
                     "packed_attention: second derivatives are not supported; ",
                     "write the product of matrices and softmax out");
  if (v.needs(0)) {
    v.set(0, call<PackedAttentionBackward>({v.gradient(), v.input(0), v.output(0), v.output(1)},
                                           attrs));
  }
}

ShardRule PackedAttention::shard(const Infer&, const Attrs&) {
  const DimLabels batch = DimLabels::numbered(3, 1);
  return {.inputs = {batch}, .outputs = {batch, DimLabels::numbered(4, 1)}};
}

void PackedAttentionBackward::infer(Infer& c, const Attrs& attrs) {
  check_packed(c.op(), c.input(1), attrs);
  const Shape& shape = c.input(1).shape();
  check_saved(c, 0, output_shape(shape, attrs));
  check_saved(c, 2, output_shape(shape, attrs));
  check_saved(c, 3, sums_shape(shape, attrs));
  c.add_output(c.input(1).shape(), c.input(1).dtype());
}

void PackedAttentionBackward::reference(Kernel& k, const Attrs& attrs) {
  const std::vector<double> x = dense_values<double>(k.input(1), attrs.attention.dtype);
  const std::vector<double> none(x.size());
  AttentionData to{none, none, none};
  attention_backward(problem_of(k.input(1), attrs), {x, x, x}, dense_values<double>(k.input(0)),
                     dense_values<double>(k.input(3)), to);
  for (std::size_t i = 0; i < x.size(); ++i) {  // each part is zero where the others lie
    to.q[i] += to.k[i] + to.v[i];
  }
  store_values(k.output(), to.q);
}

ShardRule PackedAttentionBackward::shard(const Infer&, const Attrs&) {
  const DimLabels batch = DimLabels::numbered(3, 1);
  return {.inputs = {batch, batch, batch, DimLabels::numbered(4, 1)}, .outputs = {batch}};
}

Tensor packed_attention(const Tensor& qkv, std::int64_t heads, std::int64_t kv_heads,
                        const AttentionOptions& options) {
  return call_all<PackedAttention>({qkv}, {heads, kv_heads, attention_attrs(qkv, options)})[0];
}

const Register<PackedAttention> register_packed_attention;
const Register<PackedAttentionBackward> register_packed_attention_backward;

}  // namespace tessera
