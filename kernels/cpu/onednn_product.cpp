// oneDNN (2.x or 3.x) as a product library: one matmul primitive for each shape of tile, executed
// on the calling thread.
#include <dlfcn.h>

#include <string>
#include <unordered_map>

#include <oneapi/dnnl/dnnl.hpp>

#include <tessera/core/base/error.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/product_library.h>
#include <tessera/kernels/cpu/scratch.h>

namespace tessera::cpu {
namespace {

using dnnl::memory;

// oneDNN's own threads split sums over k. OpenMP can be told, for one thread, to use no others; a
// oneDNN built on TBB or SYCL cannot.
constexpr bool kOneThreadIsPossible =
    DNNL_CPU_RUNTIME == DNNL_RUNTIME_OMP || DNNL_CPU_RUNTIME == DNNL_RUNTIME_SEQ;

/// While it lives, OpenMP regions that this thread begins have one thread.
class OneThread {
 public:
  OneThread() : before_(functions().get == nullptr ? 1 : functions().get()) {
    if (before_ != 1) {
      functions().set(1);
    }
  }
  ~OneThread() {
    if (before_ != 1) {
      functions().set(before_);
    }
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  struct Functions {
    int (*get)() = nullptr;
    void (*set)(int) = nullptr;
  };
  // Looked up, not linked: it must be the OpenMP that oneDNN has loaded, whichever that is.
  static const Functions& functions() {
    static const Functions found = [] {
      Functions f{reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads")),
                  reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"))};
      return f.get == nullptr || f.set == nullptr ? Functions{} : f;
    }();
    return found;
  }

  int before_;
};

const dnnl::engine& cpu_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

// With wider units than our own instruction sets know (AMX) oneDNN's bits would be others.
dnnl::cpu_isa choose_isa() {
  dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core_bf16);  // refused after first use elsewhere
  return dnnl::get_effective_cpu_isa();
}

bool supports(DType compute) {
  if (active_isa() < (compute == DType::bf16 ? Isa::avx512_bf16 : Isa::avx512)) {
    return false;
  }
  static const dnnl::cpu_isa isa = choose_isa();
  return isa == dnnl::cpu_isa::avx512_core_bf16 ||
         (compute == DType::f32 &&
          (isa == dnnl::cpu_isa::avx512_core || isa == dnnl::cpu_isa::avx512_core_vnni));
}

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

memory::data_type type_of(DType dtype) {
  return dtype == DType::bf16 ? memory::data_type::bf16 : memory::data_type::f32;
}

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
  thread_local dnnl::stream stream(cpu_engine());
  primitive_.execute(stream, arguments_);
}

// A thread's own, so that nothing is locked. oneDNN shares the code of equal primitives.
Product& product_for(const Key& key) {
  thread_local std::unordered_map<Key, Product, KeyHash> products;
  constexpr std::size_t kMost = 512;
  const auto found = products.find(key);
  if (found != products.end()) {
    return found->second;
  }
  if (products.size() >= kMost) {
    products.clear();
  }
  return products.emplace(key, Product(key)).first->second;
}

void multiply(const LibraryProduct& p) {
  const OneThread one;
  try {
    product_for(key_of(p)).run(p);
  } catch (const dnnl::error& error) {
    fail<InternalError>("oneDNN matmul: ", error.what(), "; got m ", p.m, ", n ", p.n, ", k ", p.k);
  }
}

std::string version() {
  const dnnl_version_t* v = dnnl_version();
  std::string text = "oneDNN";
  char separator = ' ';
  for (const int part : {v->major, v->minor, v->patch}) {
    text += separator;
    text += std::to_string(part);
    separator = '.';
  }
  return text;
}

constexpr ProductLibrary kLibrary{version, supports, multiply};
[[maybe_unused]] const bool added = kOneThreadIsPossible && add_product_library(&kLibrary);

}  // namespace
}  // namespace tessera::cpu
