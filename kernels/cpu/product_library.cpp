#include <tessera/kernels/cpu/product_library.h>

#include <array>
#include <atomic>
#include <string>

#include <tessera/core/base/error.h>
#include <tessera/core/base/numerics_fingerprint.h>
#include <tessera/core/base/settings.h>
#include <tessera/kernels/cpu/named_setting.h>

namespace tessera {

template <>
struct SettingType<cpu::ProductProvider>
    : cpu::NamedSetting<cpu::ProductProvider, cpu::ProductProvider::own,
                        cpu::ProductProvider::onednn> {
  static constexpr const char* kExpected = "own or onednn";
};

namespace cpu {
namespace {

const Setting<ProductProvider> product_setting{
    "TESSERA_MATMUL", ProductProvider::own, "Who computes matrix products on CPUs: own or onednn"};

constinit const ProductLibrary* the_products = nullptr;

ProductProvider checked(ProductProvider provider) {
  check<Unsupported>(
      provider != ProductProvider::onednn || the_products != nullptr,
      "TESSERA_MATMUL: no oneDNN is built in that keeps to one thread (on TBB or SYCL "
      "it does not); got onednn, expected own");
  return provider;
}

std::atomic<ProductProvider>& active_products() {
  static std::atomic<ProductProvider> provider{checked(product_setting.get())};
  return provider;
}

std::string describe_products() {
  const bool own = product_provider() == ProductProvider::own;
  return own ? std::string("own") : the_products->version();
}
const NumericsFact product_fact{"matrix products", describe_products};

}  // namespace

bool add_product_library(const ProductLibrary* library) {
  the_products = library;
  return true;
}

std::string_view to_string(ProductProvider provider) noexcept {
  constexpr std::array<std::string_view, 2> kNames{"own", "onednn"};
  return kNames[static_cast<std::size_t>(provider)];
}

ProductProvider product_provider() {
  return active_products().load(std::memory_order_relaxed);
}

void set_product_provider(ProductProvider provider) {
  active_products().store(checked(provider), std::memory_order_relaxed);
}

bool has_product_library() noexcept {
  return the_products != nullptr;
}

const ProductLibrary* library_for(DType compute) {
  const bool wanted = product_provider() == ProductProvider::onednn;
  return wanted && the_products->supports(compute) ? the_products : nullptr;
}

}  // namespace cpu
}  // namespace tessera
