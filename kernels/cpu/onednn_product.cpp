// oneDNN (2.x or 3.x) as a product library: one matmul primitive for each shape of tile, executed
// on the calling thread.
#include <unordered_map>

#include <tessera/core/base/error.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/onednn.h>
#include <tessera/kernels/cpu/product_library.h>
#include <tessera/kernels/cpu/scratch.h>

namespace tessera::cpu {
namespace {

using dnnl::memory;
using onednn::cpu_engine;
using onednn::type_of;

/// What a primitive is made for.
struct Key {
  std::int64_t m, n, k;
  DType dtype;
  bool a_transposed, b_transposed;

  friend bool operator==(const Key&, const Key&) = default;
};

Key key_of(const LibraryProduct& p) {
  return {p.m, p.n, p.k, p.a.dtype, p.a.column_stride != 1, p.b.column_stride != 1};
}

struct KeyHash {
  std::size_t operator()(const Key& k) const {
    auto hash =
        static_cast<std::size_t>(k.dtype) * 4 + (k.a_transposed ? 2 : 0) + (k.b_transposed ? 1 : 0);
    for (const std::int64_t x : {k.m, k.n, k.k}) {
      hash = hash * 0x9e3779b97f4a7c15ULL + static_cast<std::size_t>(x);
    }
    return hash;
  }
};

/// A primitive with its arguments; of one thread.
class Product {
 public:
  explicit Product(const Key& key);
  void run(const LibraryProduct& p);

 private:
  memory argument(int index, const memory::desc& desc);

  dnnl::matmul primitive_;
  std::unordered_map<int, memory> arguments_;
  memory a_, b_, c_, scratchpad_;
  std::size_t scratch_bytes_ = 0;
};

memory::desc dense(std::int64_t rows, std::int64_t columns, DType dtype, bool transposed) {
  return {{rows, columns},
          type_of(dtype),
          transposed ? memory::format_tag::ba : memory::format_tag::ab};
}

dnnl::matmul::primitive_desc describe(const Key& key) {
  const memory::desc a = dense(key.m, key.k, key.dtype, key.a_transposed);
  const memory::desc b = dense(key.k, key.n, key.dtype, key.b_transposed);
  const memory::desc c = dense(key.m, key.n, DType::f32, false);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
#if DNNL_VERSION_MAJOR >= 3
  return {cpu_engine(), a, b, c, attributes};
#else
  return {{a, b, c}, attributes, cpu_engine()};
#endif
}

Product::Product(const Key& key) {
  const dnnl::matmul::primitive_desc description = describe(key);
  primitive_ = dnnl::matmul(description);
  a_ = argument(DNNL_ARG_SRC, description.src_desc());
  b_ = argument(DNNL_ARG_WEIGHTS, description.weights_desc());
  c_ = argument(DNNL_ARG_DST, description.dst_desc());
  scratch_bytes_ = description.scratchpad_desc().get_size();
  scratchpad_ = argument(DNNL_ARG_SCRATCHPAD, description.scratchpad_desc());
}

memory Product::argument(int index, const memory::desc& desc) {
  memory made(desc, cpu_engine(), DNNL_MEMORY_NONE);
  arguments_.emplace(index, made);
  return made;
}

void Product::run(const LibraryProduct& p) {
  a_.set_data_handle(const_cast<void*>(p.a.data));
  b_.set_data_handle(const_cast<void*>(p.b.data));
  c_.set_data_handle(p.c);
  scratchpad_.set_data_handle(scratch(Scratch::library, scratch_bytes_));
  primitive_.execute(onednn::cpu_stream(), arguments_);
}

void multiply(const LibraryProduct& p) {
  const onednn::OneThread one;
  try {
    onednn::made_for<Product, KeyHash>(key_of(p)).run(p);
  } catch (const dnnl::error& error) {
    fail<InternalError>("oneDNN matmul: ", error.what(), "; got m ", p.m, ", n ", p.n, ", k ", p.k);
  }
}

// By tile registers oneDNN's bits depend on the number of rows and columns; ours do not.
bool supports(DType compute) {
  return onednn::supports(compute) && (compute == DType::f32 || active_isa() != Isa::amx_bf16);
}

constexpr ProductLibrary kLibrary{onednn::version, supports, multiply};
[[maybe_unused]] const bool added = onednn::kOneThreadIsPossible && add_product_library(&kLibrary);

}  // namespace
}  // namespace tessera::cpu
