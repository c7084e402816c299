#include <tessera/kernels/cpu/dense_submatrix.h>

#include <cstring>

#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/simd/elementwise.h>

namespace tessera::cpu {
namespace {

/// `count` lines of `length` elements; those of a line lie `step` apart, lines `stride` apart.
struct Lines {
  const char* data;
  DType dtype;
  std::int64_t count, length, stride, step;
};

template <class T>
void gather(const T* from, std::int64_t step, T* to, std::int64_t length) {
  for (std::int64_t i = 0; i < length; ++i) {
    to[i] = from[i * step];
  }
}

void copy_line(const char* from, DType from_dtype, char* to, DType dtype, std::int64_t length) {
  if (from_dtype == dtype) {
    std::memcpy(to, from, static_cast<std::size_t>(length) * size_of(dtype));
    return;
  }
  const ElementwiseTable& table = IsaTable<ElementwiseTable>::get();
  (dtype == DType::bf16 ? table.to_bf16 : table.to_f32)(from, to, length);
}

void copy(const Lines& lines, char* out, DType dtype, char* line) {
  const auto from_size = static_cast<std::int64_t>(size_of(lines.dtype));
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  for (std::int64_t i = 0; i < lines.count; ++i) {
    const char* from = lines.data + i * lines.stride * from_size;
    if (lines.step != 1 && lines.dtype == DType::f32) {
      gather(reinterpret_cast<const float*>(from), lines.step, reinterpret_cast<float*>(line),
             lines.length);
      from = line;
    } else if (lines.step != 1) {
      gather(reinterpret_cast<const BFloat16*>(from), lines.step, reinterpret_cast<BFloat16*>(line),
             lines.length);
      from = line;
    }
    copy_line(from, lines.dtype, out + i * lines.length * size, dtype, lines.length);
  }
}

}  // namespace

Matrix dense_submatrix(const Matrix& x, const Submatrix& part, DType dtype, Scratch purpose) {
  const std::int64_t at = part.row * x.row_stride + part.column * x.column_stride;
  const char* data =
      static_cast<const char*>(x.data) + at * static_cast<std::int64_t>(size_of(x.dtype));
  // Transposed exactly where the whole matrix is, so that no part changes a library's kernel.
  const bool by_rows = x.column_stride == 1 || x.row_stride != 1;
  const Lines lines =
      by_rows ? Lines{data, x.dtype, part.rows, part.columns, x.row_stride, x.column_stride}
              : Lines{data, x.dtype, part.columns, part.rows, x.column_stride, x.row_stride};
  Matrix out{data, dtype, by_rows ? lines.length : 1, by_rows ? 1 : lines.length};
  const bool follow = lines.stride == lines.length || lines.count == 1;
  if (x.dtype == dtype && lines.step == 1 && follow) {
    return out;
  }
  // The line comes first: behind an odd number of bf16 there is no place for f32.
  constexpr std::int64_t kAligned = 64;
  const auto line_bytes = lines.length * static_cast<std::int64_t>(sizeof(float));
  const std::int64_t room = (line_bytes + kAligned - 1) / kAligned * kAligned;
  const std::int64_t nbytes =
      lines.count * lines.length * static_cast<std::int64_t>(size_of(dtype));
  auto* line = scratch_array<char>(purpose, room + nbytes);
  char* copied = line + room;
  copy(lines, copied, dtype, line);
  out.data = copied;
  return out;
}

}  // namespace tessera::cpu
