#include <tessera/kernels/cpu/ops/arguments.h>

#include <tessera/core/tensor/elements.h>
#include <tessera/kernels/cpu/copy.h>
#include <tessera/kernels/cpu/elementwise.h>

namespace tessera::cpu {

bool are_outputs_of(const Kernel& k, DType sums) {
  for (int i = 0; i < k.output_count(); ++i) {
    if (!is_stored_of(k.output(i), sums)) {
      return false;
    }
  }
  return true;
}

std::int64_t rows_of(const TensorImpl& x) {
  std::int64_t rows = 1;
  for (int d = 0; d + 1 < x.shape.size(); ++d) {
    rows *= x.shape[d];
  }
  return rows;
}

bool holds_runs_of_rows(const TensorImpl& x) {
  if (x.microbatches().count == 1) {
    return true;
  }
  if (x.microbatches().dim < 0 || x.microbatches().dim + 1 >= x.shape.size()) {
    return false;
  }
  for (int d = 0; d < x.microbatches().dim; ++d) {
    if (x.shape[d] != 1) {
      return false;
    }
  }
  return rows_of(x) % x.microbatches().count == 0;
}

bool cuts_rows(const Kernel& k, const TensorImpl& x) {
  return k.microbatch_count() == 1 ||
         (x.microbatches().count == k.microbatch_count() && holds_runs_of_rows(x));
}

Matrix rows_matrix(const TensorImpl& x) {
  return {bytes_of(x), x.dtype, x.shape.back(), 1};
}

DenseOperand::DenseOperand(const TensorImpl& x, const Shape& shape) : data_(bytes_of(x)) {
  if (x.contiguous() && x.shape == shape) {
    return;
  }
  const std::size_t size = size_of(x.dtype);
  copy_ = HeldMemory(static_cast<std::size_t>(numel_of(shape)) * size);
  char* to = reinterpret_cast<char*>(copy_.data());
  copy_strided(shape, size, {bytes_of(x), broadcast_strides(x, shape)},
               {to, contiguous_strides(shape)});
  data_ = to;
}

FloatOperand::FloatOperand(const Kernel& k, int input) {
  if (!k.has_input(input)) {
    return;
  }
  const TensorImpl& x = k.input(input);
  if (x.dtype != DType::bf16) {
    data_ = bytes_of(x);
    return;
  }
  copy_ = HeldMemory(static_cast<std::size_t>(x.numel()) * sizeof(float));
  cast(x.dtype, bytes_of(x), DType::f32, copy_.data(), x.numel());
  data_ = copy_.data();
}

FloatResult::FloatResult(const TensorImpl& output, std::byte* memory)
    : output_(output),
      data_(output.dtype == DType::bf16 ? static_cast<void*>(memory) : bytes_of(output)) {}

std::size_t FloatResult::nbytes(const TensorImpl& output) {
  return output.dtype == DType::bf16 ? static_cast<std::size_t>(output.numel()) * sizeof(float) : 0;
}

DType FloatResult::dtype() const {
  return output_.dtype == DType::f64 ? DType::f64 : DType::f32;
}

void FloatResult::store() const {
  if (output_.dtype == DType::bf16) {
    cast(DType::f32, data_, output_.dtype, bytes_of(output_), output_.numel());
  }
}

Indices::Indices(const TensorImpl& x) {
  if (x.dtype == DType::i64 && x.contiguous()) {
    data_ = x.data<std::int64_t>();
    return;
  }
  copy_.reserve(static_cast<std::size_t>(x.numel()));
  for_each_element(x, [&](std::int64_t at) { copy_.push_back(load_as<std::int64_t>(x, at)); });
  data_ = copy_.data();
}

}  // namespace tessera::cpu
