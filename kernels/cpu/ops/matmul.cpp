#include <tessera/core/ops/matmul.h>

#include <tessera/core/tensor/elements.h>
#include <tessera/kernels/cpu/gemm.h>
#include <tessera/kernels/cpu/ops/arguments.h>

namespace tessera::cpu {
namespace {

/// Elements between the matrices of a dense operand, in a batch of `count`; -1 when some are used
/// several times.
std::int64_t step_of(const TensorImpl& x, std::int64_t count) {
  const int ndim = x.shape.size();
  const std::int64_t size = x.shape[ndim - 1] * x.shape[ndim - 2];
  const std::int64_t matrices = size == 0 ? count : x.numel() / size;
  if (matrices == count) {
    return size;
  }
  return matrices == 1 ? 0 : -1;
}

Matrix matrix_of(const TensorImpl& x, bool transposed) {
  const Matrix m{bytes_of(x), x.dtype, x.shape.back(), 1};
  return transposed ? m.transposed() : m;
}

char* bytes_at(const TensorImpl& x, std::int64_t element) {
  return bytes_of(x) + element * static_cast<std::int64_t>(size_of(x.dtype));
}

/// Elements between the matrices of a dense operand along each dim of the batch of `c`.
Strides strides_in_batch(const TensorImpl& x, const TensorImpl& c) {
  Strides strides = Dims::filled(c.shape.size() - 2, 0);
  const int more = c.shape.size() - x.shape.size();
  std::int64_t step = x.shape[x.shape.size() - 1] * x.shape[x.shape.size() - 2];
  for (int d = x.shape.size() - 3; d >= 0; --d) {
    strides[d + more] = x.shape[d] == 1 ? 0 : step;
    step *= x.shape[d];
  }
  return strides;
}

/// One batch along the last dim of the batch's dims after the other, each of uniform steps.
void multiply_rows_of_batch(GemmBatch row, const TensorImpl& a, const TensorImpl& b,
                            const TensorImpl& c) {
  Strides of_a = strides_in_batch(a, c);
  Strides of_b = strides_in_batch(b, c);
  Shape rows = c.shape;
  for (int d = 0; d < 3; ++d) {
    rows.erase(rows.size() - 1);
  }
  row.count = c.shape[rows.size()];
  row.a_step = of_a.back(), row.b_step = of_b.back();
  of_a.erase(rows.size()), of_b.erase(rows.size());
  StridedCounter<2> at(rows, {of_a, of_b});
  const std::int64_t step_of_c = row.count * row.c_step;
  for (std::int64_t n = 0; n < numel_of(rows); ++n, at.next()) {
    row.first.a.data = bytes_at(a, at.offsets[0]);
    row.first.b.data = bytes_at(b, at.offsets[1]);
    row.first.c = bytes_at(c, n * step_of_c);
    gemm(row);
  }
}

bool matmul_kernel(Kernel& k, const Matmul::Attrs& attrs) {
  const TensorImpl& a = k.input(0);
  const TensorImpl& b = k.input(1);
  const TensorImpl& c = k.output();
  if (!is_factor(a, attrs.dtype) || !is_factor(b, attrs.dtype) || !is_factor(c, attrs.dtype)) {
    return false;
  }
  const int ndim = c.shape.size();
  GemmBatch batch;
  Gemm& g = batch.first;
  g.m = c.shape[ndim - 2], g.n = c.shape[ndim - 1];
  g.k = a.shape[a.shape.size() - (attrs.transpose_a ? 2 : 1)];
  if (g.m == 0 || g.n == 0 || c.numel() == 0) {
    return true;
  }
  batch.count = c.numel() / (g.m * g.n);
  g.a = matrix_of(a, attrs.transpose_a);
  g.b = matrix_of(b, attrs.transpose_b);
  g.c = bytes_of(c), g.c_dtype = c.dtype, g.c_stride = g.n;
  g.compute = attrs.dtype;
  batch.a_step = step_of(a, batch.count);
  batch.b_step = step_of(b, batch.count);
  batch.c_step = g.m * g.n;
  if (batch.a_step < 0 || batch.b_step < 0) {
    multiply_rows_of_batch(batch, a, b, c);
    return true;
  }
  const bool one_matrix = batch.b_step == 0 && batch.a_step != 0 && !attrs.transpose_a;
  if (one_matrix) {
    g.m *= batch.count;
    gemm(g);
  } else {
    gemm(batch);
  }
  return true;
}

const RegisterKernel<Matmul, matmul_kernel> register_matmul{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
