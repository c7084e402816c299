#include <tessera/kernels/cpu/convolution_library.h>

#include <array>
#include <atomic>
#include <string>

#include <tessera/core/base/error.h>
#include <tessera/core/base/numerics_fingerprint.h>
#include <tessera/core/base/settings.h>
#include <tessera/kernels/cpu/named_setting.h>

namespace tessera {

template <>
struct SettingType<cpu::ConvolutionProvider>
    : cpu::NamedSetting<cpu::ConvolutionProvider, cpu::ConvolutionProvider::best,
                        cpu::ConvolutionProvider::own, cpu::ConvolutionProvider::onednn> {
  static constexpr const char* kExpected = "best, own or onednn";
};

namespace cpu {
namespace {

const Setting<ConvolutionProvider> setting{
    "TESSERA_CONVOLUTION", ConvolutionProvider::best,
    "Who computes convolutions on CPUs: own, onednn, or best, which is onednn if it is built in"};

constinit const ConvolutionLibrary* the_library = nullptr;

ConvolutionProvider checked(ConvolutionProvider provider) {
  const bool built_in = the_library != nullptr;
  check<Unsupported>(provider != ConvolutionProvider::onednn || built_in,
                     "TESSERA_CONVOLUTION: no oneDNN is built in that keeps to one thread (on TBB "
                     "or SYCL it does not); got onednn, expected own");
  if (provider == ConvolutionProvider::best) {
    return built_in ? ConvolutionProvider::onednn : ConvolutionProvider::own;
  }
  return provider;
}

std::atomic<ConvolutionProvider>& active() {
  static std::atomic<ConvolutionProvider> provider{checked(setting.get())};
  return provider;
}

std::string describe() {
  const bool own = convolution_provider() == ConvolutionProvider::own;
  return own ? std::string("own") : the_library->version();
}
const NumericsFact fact{"convolutions", describe};

}  // namespace

bool add_convolution_library(const ConvolutionLibrary* library) {
  the_library = library;
  return true;
}

std::string_view to_string(ConvolutionProvider provider) noexcept {
  constexpr std::array<std::string_view, 3> kNames{"best", "own", "onednn"};
  return kNames[static_cast<std::size_t>(provider)];
}

ConvolutionProvider convolution_provider() {
  return active().load(std::memory_order_relaxed);
}

void set_convolution_provider(ConvolutionProvider provider) {
  active().store(checked(provider), std::memory_order_relaxed);
}

const ConvolutionLibrary* convolution_library_for(const ConvolutionTask& t) {
  const bool wanted = convolution_provider() == ConvolutionProvider::onednn;
  return wanted && the_library->supports(t) ? the_library : nullptr;
}

}  // namespace cpu
}  // namespace tessera
