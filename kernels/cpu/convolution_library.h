// Convolutions of another library, in the place of our own by products of matrices.
//
// Its sums have another order, so the choice is made for the whole process, and is one of the facts
// that ranks agree on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tessera/kernels/cpu/convolution.h>

namespace tessera::cpu {

struct ConvolutionLibrary {
  /// Name and version, such as "oneDNN 2.6.3".
  std::string (*version)() = nullptr;
  /// Whether it computes such convolutions on this CPU with the active instruction set.
  bool (*supports)(const ConvolutionTask&) = nullptr;
  /// Runs on the thread pool, keeping what convolution.h promises of bits; never with a bias for x.
  void (*convolve)(const ConvolutionTask&) = nullptr;
};

/// Called before main by the one file that binds a library.
bool add_convolution_library(const ConvolutionLibrary*);

/// Who computes convolutions; `best` is oneDNN where it is built in.
enum class ConvolutionProvider : std::uint8_t { best, own, onednn };
[[nodiscard]] std::string_view to_string(ConvolutionProvider) noexcept;

/// The one in use, never `best`: what TESSERA_CONVOLUTION names.
[[nodiscard]] ConvolutionProvider convolution_provider();
/// Changes it, for tests. No kernel may be running. Throws Unsupported for a library that is not
/// built in.
void set_convolution_provider(ConvolutionProvider);

/// The library when it is in use and computes such convolutions, else null.
[[nodiscard]] const ConvolutionLibrary* convolution_library_for(const ConvolutionTask&);

}  // namespace tessera::cpu
