// Matrix products of another library, one serial call for one tile of C: the place where it stands
// in for Tessera's own register tiles.
//
// Its sums over k may have another order than Tessera's tiles, so the choice is made for the whole
// process and not by shape, and is one of the facts that ranks agree on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tessera/kernels/cpu/gemm.h>

namespace tessera::cpu {

/// C[m, n] = A[m, k] · B[k, n] in f32; A and B have one dtype. All three are dense, A and B in
/// either order: libraries have other kernels, with other bits, for rows that lie apart.
struct LibraryProduct {
  std::int64_t m = 0, n = 0, k = 0;
  Matrix a, b;
  float* c = nullptr;
};

struct ProductLibrary {
  /// Name and version, such as "oneDNN 2.6.3".
  std::string (*version)() = nullptr;
  /// Whether it can compute products of this dtype on this CPU with the active instruction set.
  bool (*supports)(DType compute) = nullptr;
  /// Multiplies on the calling thread alone.
  void (*multiply)(const LibraryProduct&) = nullptr;
};

/// Called before main by the one file that binds a library.
bool add_product_library(const ProductLibrary*);

/// Who computes products.
enum class ProductProvider : std::uint8_t { own, onednn };
[[nodiscard]] std::string_view to_string(ProductProvider) noexcept;

/// What TESSERA_MATMUL names, or `set_product_provider` gave. Throws Unsupported for onednn in a
/// build without it.
[[nodiscard]] ProductProvider product_provider();
/// Replaces the provider, for tests. No kernel may be running.
void set_product_provider(ProductProvider);
[[nodiscard]] bool has_product_library() noexcept;

/// The library that computes products of this dtype; null for own tiles.
[[nodiscard]] const ProductLibrary* library_for(DType compute);

}  // namespace tessera::cpu
