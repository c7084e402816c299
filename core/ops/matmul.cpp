#include <tessera/core/ops/matmul.h>

#include <optional>

#include <tessera/core/dispatch/autocast.h>
#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/conj.h>
#include <tessera/core/ops/linear.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/squeeze.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/dense.h>
#include <tessera/core/ops/support/factors.h>
#include <tessera/core/ops/unsqueeze.h>

namespace tessera {
namespace {

/// Rows and columns of the matrices in `shape`, read transposed or not.
struct Sides {
  std::int64_t rows;
  std::int64_t columns;
};

Sides sides(const Shape& shape, bool transposed) {
  const std::int64_t last = shape[shape.size() - 1];
  const std::int64_t before = shape[shape.size() - 2];
  return transposed ? Sides{last, before} : Sides{before, last};
}

Shape batch_of(Shape shape) {
  shape.erase(shape.size() - 1);
  shape.erase(shape.size() - 1);
  return shape;
}

/// Strides, counted in matrices, through a dense operand read in the batch shape `batch`.
Strides batch_strides(const Shape& own, const Shape& batch) {
  Strides strides = Dims::filled(batch.size(), 0);
  const Strides dense = contiguous_strides(own);
  const int offset = batch.size() - own.size();
  for (int d = 0; d < own.size(); ++d) {
    strides[d + offset] = own[d] == 1 ? 0 : dense[d];
  }
  return strides;
}

/// to[n, m] = a[n, k] b[k, m], each sum in ascending order of k.
template <class C>
void multiply(const C* a, const C* b, C* to, Sides size_a, Sides size_b,
              const Matmul::Attrs& attrs) {
  const std::int64_t inner = size_a.columns;
  const std::int64_t a_row = attrs.transpose_a ? 1 : inner;
  const std::int64_t a_column = attrs.transpose_a ? size_a.rows : 1;
  const std::int64_t b_row = attrs.transpose_b ? 1 : size_b.columns;
  const std::int64_t b_column = attrs.transpose_b ? inner : 1;
  for (std::int64_t i = 0; i < size_a.rows; ++i) {
    for (std::int64_t j = 0; j < size_b.columns; ++j) {
      C sum(0);
      for (std::int64_t p = 0; p < inner; ++p) {
        sum += a[i * a_row + p * a_column] * b[p * b_row + j * b_column];
      }
      *to++ = sum;
    }
  }
}

using Sums = std::optional<BatchSum>;

Tensor gradient_of_a(const Tensor& gradient, const Tensor& b, const Matmul::Attrs& attrs,
                     DType result, Sums sums) {
  return attrs.transpose_a
             ? call<Matmul>({b, gradient}, {attrs.transpose_b, true, attrs.dtype, result}, sums)
             : call<Matmul>({gradient, b}, {false, !attrs.transpose_b, attrs.dtype, result}, sums);
}

Tensor gradient_of_b(const Tensor& gradient, const Tensor& a, const Matmul::Attrs& attrs,
                     DType result, Sums sums) {
  return attrs.transpose_b
             ? call<Matmul>({gradient, a}, {true, attrs.transpose_a, attrs.dtype, result}, sums)
             : call<Matmul>({a, gradient}, {!attrs.transpose_a, false, attrs.dtype, result}, sums);
}

/// Where input `i` is repeated over the batch, its gradient is summed over the batch before it is
/// over microbatches, so the product leaves those apart.
bool is_repeated(const Vjp& v, int i) {
  return batch_of(v.input_meta(i).shape) != batch_of(v.output_meta().shape);
}

Tensor gradient_of(const Vjp& v, int i, const Tensor& gradient, const Tensor& other,
                   const Matmul::Attrs& attrs) {
  const Sums sums = is_repeated(v, i) ? Sums(BatchSum::per_microbatch) : std::nullopt;
  const DType result = v.input_meta(i).dtype;
  return i == 0 ? gradient_of_a(gradient, other, attrs, result, sums)
                : gradient_of_b(gradient, other, attrs, result, sums);
}

}  // namespace

void Matmul::infer(Infer& c, const Attrs& attrs) {
  const Shape& a = c.input(0).shape();
  const Shape& b = c.input(1).shape();
  check_factors(c, attrs.dtype);
  check_layout(a.size() >= 2, "matmul", "a", a, "(..., rows, columns)");
  check_layout(b.size() >= 2, "matmul", "b", b, "(..., rows, columns)");
  const Sides left = sides(a, attrs.transpose_a);
  const Sides right = sides(b, attrs.transpose_b);
  check(left.columns == right.rows, "matmul: wrong inner size; got ", right.rows, " in ", a,
        " times ", b, ", expected ", left.columns);
  Shape shape = broadcast_shapes("matmul", batch_of(a), batch_of(b));
  shape.push_back(left.rows);
  shape.push_back(right.columns);
  c.add_output(shape, attrs.result);
}

void Matmul::reference(Kernel& k, const Attrs& attrs) {
  const Sides left = sides(k.input(0).shape, attrs.transpose_a);
  const Sides right = sides(k.input(1).shape, attrs.transpose_b);
  const Shape batch = batch_of(k.output().shape);
  StridedCounter<2> at(batch, {batch_strides(batch_of(k.input(0).shape), batch),
                               batch_strides(batch_of(k.input(1).shape), batch)});
  with_computing_type(attrs.dtype, [&]<class C>() {
    const std::vector<C> a = dense_values<C>(k.input(0), attrs.dtype);
    const std::vector<C> b = dense_values<C>(k.input(1), attrs.dtype);
    std::vector<C> to(static_cast<std::size_t>(k.output().numel()));
    C* next = to.data();
    for (std::int64_t n = numel_of(batch); n > 0; --n, at.next()) {
      multiply(a.data() + at.offsets[0] * left.rows * left.columns,
               b.data() + at.offsets[1] * right.rows * right.columns, next, left, right, attrs);
      next += left.rows * right.columns;
    }
    store_values(k.output(), to);
  });
}

void Matmul::vjp(Vjp& v, const Attrs& attrs) {
  const Tensor gradient = v.gradient();
  if (v.needs(0)) {
    const Tensor product = gradient_of(v, 0, gradient, conj(v.input(1)), attrs);
    v.set(0, gradient_like(product, v.input_meta(0)));
  }
  if (!v.needs(1)) {
    return;
  }
  const TensorMeta& meta = v.input_meta(1);
  const Tensor a = conj(v.input(0));
  // One matrix for the whole batch, as a layer's weight is: its gradient sums over all rows.
  if (meta.shape.size() == 2 && !meta.microbatches.per_microbatch && !attrs.transpose_a) {
    v.set_batch_sum<LinearBackwardWeight>(
        1, {attrs.transpose_b ? gradient : a, attrs.transpose_b ? a : gradient},
        {attrs.dtype, meta.dtype});
    return;
  }
  v.set(1, gradient_like(gradient_of(v, 1, gradient, a, attrs), meta));
}

ShardRule Matmul::shard(const Infer& c, const Attrs& attrs) {
  const Shape& out = c.outputs()[0].shape;
  const auto row = static_cast<std::int8_t>(out.size() - 2);
  const auto column = static_cast<std::int8_t>(out.size() - 1);
  const auto inner = static_cast<std::int8_t>(out.size());
  ShardRule rule{.partial = ShardRule::Partial::sum};
  for (int i = 0; i < 2; ++i) {
    const Shape& shape = c.input(i).shape();
    DimLabels& labels = rule.inputs.emplace_back(shape.size());
    const int offset = out.size() - shape.size();
    for (int d = 0; d < shape.size() - 2; ++d) {
      const bool whole = shape[d] != out[d + offset];
      labels[d] = whole ? DimLabels::kWhole : static_cast<std::int8_t>(d + offset);
    }
    const bool transposed = i == 0 ? attrs.transpose_a : attrs.transpose_b;
    labels[shape.size() - (transposed ? 1 : 2)] = i == 0 ? row : inner;
    labels[shape.size() - (transposed ? 2 : 1)] = i == 0 ? inner : column;
  }
  rule.outputs.push_back(DimLabels::numbered(out.size()));
  return rule;
}

Tensor matmul(const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b) {
  const DType dtype = product_dtype("matmul", {{"a", a}, {"b", b}});
  return call<Matmul>({a, b}, {transpose_a, transpose_b, dtype, dtype});
}

Tensor matmul(const Tensor& a, const Tensor& b) {
  const bool row = unstacked_ndim(a) == 1;
  const bool column = unstacked_ndim(b) == 1;
  if (!row && !column) {
    return matmul(a, b, false, false);
  }
  const Tensor y = matmul(row ? unsqueeze(a, 0) : a, column ? unsqueeze(b, -1) : b, false, false);
  const Tensor without_column = column ? squeeze(y, -1) : y;
  return row ? squeeze(without_column, column ? -1 : -2) : without_column;
}

const Register<Matmul> register_matmul;

}  // namespace tessera
