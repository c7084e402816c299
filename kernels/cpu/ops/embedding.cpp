#include <tessera/kernels/cpu/embedding.h>

#include <cstring>

#include <tessera/core/ops/add_rows.h>
#include <tessera/core/ops/embedding.h>
#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/ranges.h>

namespace tessera::cpu {
namespace {

template <class Number>
void look_up(const Kernel& k) {
  const TensorImpl& weight = k.input(0);
  const Indices ids(k.input(1));
  embedding_forward(weight.data<Number>(), weight.shape[0], weight.shape[1], ids.data(),
                    k.input(1).numel(), k.output().dtype, bytes_of(k.output()));
}

bool embedding_kernel(Kernel& k, const Embedding::Attrs&) {
  const TensorImpl& weight = k.input(0);
  const bool wide = is_f64(weight) && is_f64(k.output());
  if (!wide && (!is_f32(weight) || !is_fast(k.output()))) {
    return false;
  }
  wide ? look_up<double>(k) : look_up<float>(k);
  return true;
}

const RegisterKernel<Embedding, embedding_kernel> register_embedding{DeviceType::cpu};

/// The output begins as x, or as zeros.
void begin_with(const TensorImpl& out, const char* x) {
  constexpr std::int64_t kBytes = std::int64_t{1} << 17;
  const std::int64_t bytes = out.numel() * static_cast<std::int64_t>(size_of(out.dtype));
  for_ranges(bytes, kBytes, [&](std::int64_t i, std::int64_t n) {
    if (x == nullptr) {
      std::memset(bytes_of(out) + i, 0, static_cast<std::size_t>(n));
    } else {
      std::memcpy(bytes_of(out) + i, x + i, static_cast<std::size_t>(n));
    }
  });
}

template <class Number>
void add_rows(const Kernel& k, const AddRows::Attrs& attrs) {
  const TensorImpl& values = k.input(0);
  const Indices indices(k.input(1));
  EmbeddingGradientOf<Number> e;
  e.ids = indices.data();
  e.dy = bytes_of(values);
  e.dtype = values.dtype;
  e.count = k.input(1).numel();
  e.columns = values.shape.back();
  e.table_rows = attrs.rows;
  e.cuts = attrs.microbatch_count;
  e.gradient = k.output().data<Number>();
  embedding_backward(e);
}

bool add_rows_kernel(Kernel& k, const AddRows::Attrs& attrs) {
  const TensorImpl& values = k.input(0);
  const TensorImpl& out = k.output();
  const bool has_x = k.has_input(2), wide = is_f64(values) && is_f64(out);
  if ((!wide && (!is_fast(values) || !is_f32(out))) ||
      (has_x && !(k.input(2).dtype == out.dtype && k.input(2).contiguous()))) {
    return false;
  }
  const char* x = has_x ? bytes_of(k.input(2)) : nullptr;
  if (x != bytes_of(out)) {
    begin_with(out, x);
  }
  wide ? add_rows<double>(k, attrs) : add_rows<float>(k, attrs);
  return true;
}

const RegisterKernel<AddRows, add_rows_kernel> register_add_rows{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
