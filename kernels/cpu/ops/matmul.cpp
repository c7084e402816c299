#include <tessera/core/ops/matmul.h>

#include <tessera/kernels/cpu/gemm.h>
#include <tessera/kernels/cpu/ops/arguments.h>

namespace tessera::cpu {
namespace {

/// Elements between the matrices of a dense operand, in a batch of `count`; -1 when not uniform.
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
    return false;
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
