// How a layer continues its input beyond the edges.
#pragma once

#include <array>
#include <string_view>

#include <tessera/core/tensor/tensor.h>

namespace tessera::nn {

enum class PaddingMode : std::uint8_t {
  zeros,
  reflect,    ///< mirrored at the edge elements, which are not repeated
  replicate,  ///< the edge elements, repeated
  circular,   ///< from the other end
};

/// The names of the enumerators, in order.
[[nodiscard]] constexpr auto names_of(PaddingMode /*of_this_type*/) {
  return std::array<std::string_view, 4>{"zeros", "reflect", "replicate", "circular"};
}

/// The name, as PyTorch prints it.
[[nodiscard]] std::string_view to_string(PaddingMode) noexcept;

/// x (..., positions...) with before[d] more positions in front of the d-th of the last
/// before.size() dims and after[d] behind it. Throws InvalidArgument where the input is too small
/// for the mode.
[[nodiscard]] Tensor pad_by(PaddingMode mode, const Tensor& x, const Dims& before,
                            const Dims& after);

}  // namespace tessera::nn
