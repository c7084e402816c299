#include <dlfcn.h>

#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/onednn.h>

namespace tessera::cpu::onednn {
namespace {

struct OpenMp {
  int (*get)() = nullptr;
  void (*set)(int) = nullptr;
};

// Looked up, not linked: it must be the OpenMP that oneDNN has loaded, whichever that is.
const OpenMp& open_mp() {
  static const OpenMp found = [] {
    OpenMp f{reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads")),
             reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"))};
    return f.get == nullptr || f.set == nullptr ? OpenMp{} : f;
  }();
  return found;
}

// The unit of products that our own instruction set has: with another one bits would be others.
dnnl::cpu_isa choose_isa() {
  dnnl::set_max_cpu_isa(
      active_isa() == Isa::amx_bf16
          ? dnnl::cpu_isa::avx512_core_amx
          : dnnl::cpu_isa::avx512_core_bf16);  // refused after first use elsewhere
  return dnnl::get_effective_cpu_isa();
}

bool computes_f32(dnnl::cpu_isa isa) {
  using dnnl::cpu_isa;
  return isa == cpu_isa::avx512_core || isa == cpu_isa::avx512_core_vnni ||
         isa == cpu_isa::avx512_core_bf16 || isa == cpu_isa::avx512_core_amx;
}

}  // namespace

OneThread::OneThread() : before_(open_mp().get == nullptr ? 1 : open_mp().get()) {
  if (before_ != 1) {
    open_mp().set(1);
  }
}

OneThread::~OneThread() {
  if (before_ != 1) {
    open_mp().set(before_);
  }
}

const dnnl::engine& cpu_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::stream& cpu_stream() {
  thread_local dnnl::stream stream(cpu_engine());
  return stream;
}

bool supports(DType compute) {
  const bool half = compute == DType::bf16;
  if ((!half && compute != DType::f32) || active_isa() < (half ? Isa::avx512_bf16 : Isa::avx512)) {
    return false;
  }
  static const dnnl::cpu_isa isa = choose_isa();
  const bool tiles = active_isa() == Isa::amx_bf16;
  return half ? isa == (tiles ? dnnl::cpu_isa::avx512_core_amx : dnnl::cpu_isa::avx512_core_bf16)
              : computes_f32(isa);
}

dnnl::memory::data_type type_of(DType dtype) {
  return dtype == DType::bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
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

}  // namespace tessera::cpu::onednn
