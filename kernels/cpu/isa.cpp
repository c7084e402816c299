#include <atomic>
#include <string>

#include <tessera/core/base/numerics_fingerprint.h>
#include <tessera/core/base/settings.h>
#include <tessera/kernels/cpu/amx.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/named_setting.h>

namespace tessera {

template <>
struct SettingType<cpu::Isa>
    : cpu::NamedSetting<cpu::Isa, cpu::Isa::baseline, cpu::Isa::avx2, cpu::Isa::avx512,
                        cpu::Isa::avx512_bf16, cpu::Isa::amx_bf16> {
  static constexpr const char* kExpected = "baseline, avx2, avx512, avx512_bf16 or amx_bf16";
};

namespace cpu {
namespace {

constexpr std::array<std::string_view, kIsaCount> kNames{"baseline", "avx2", "avx512",
                                                         "avx512_bf16", "amx_bf16"};

const Setting<Isa> isa_setting{"TESSERA_ISA", best_isa(),
                               "The instruction set of CPU kernels, at most what the CPU has"};

Isa initial_isa() {
  const Isa isa = isa_setting.get();
  check<Unsupported>(isa <= best_isa(), "TESSERA_ISA: this CPU lacks it; got ", to_string(isa),
                     ", expected at most ", to_string(best_isa()));
  return isa;
}

std::atomic<Isa>& isa_in_use() {
  static std::atomic<Isa> isa{initial_isa()};
  return isa;
}

std::vector<std::string> supported_names() {
  std::vector<std::string> names;
  for (const Isa isa : supported_isas()) {
    names.emplace_back(to_string(isa));
  }
  return names;
}

void choose(const std::string& name) {
  set_active_isa(SettingType<Isa>::parse(name).value());
}

const NumericsFact isa_fact{
    "instruction set",
    [] { return std::string(to_string(active_isa())); },
    {.options = supported_names, .choose = choose, .setting = &isa_setting}};

}  // namespace

std::string_view to_string(Isa isa) noexcept {
  return kNames[static_cast<std::size_t>(isa)];
}

Isa best_isa() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  if (avx512 && __builtin_cpu_supports("avx512bf16")) {
    return may_use_amx() ? Isa::amx_bf16 : Isa::avx512_bf16;
  }
  if (avx512) {
    return Isa::avx512;
  }
  return avx2 ? Isa::avx2 : Isa::baseline;
#else
  return Isa::baseline;
#endif
}

std::vector<Isa> supported_isas() {
  std::vector<Isa> all;
  for (int i = 0; i <= static_cast<int>(best_isa()); ++i) {
    all.push_back(static_cast<Isa>(i));
  }
  return all;
}

Isa active_isa() {
  return isa_in_use().load(std::memory_order_relaxed);
}

void set_active_isa(Isa isa) {
  check<Unsupported>(isa <= best_isa(), "set_active_isa: this CPU lacks it; got ", to_string(isa),
                     ", expected at most ", to_string(best_isa()));
  isa_in_use().store(isa, std::memory_order_relaxed);
}

}  // namespace cpu
}  // namespace tessera
