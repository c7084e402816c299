// The Gaussian error linear unit as a module.
#pragma once

#include <array>
#include <string_view>
#include <tuple>

#include <tessera/core/ops/gelu.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

/// x times the normal distribution function of x, or its approximation by tanh, element by element.
///
///   auto m = nn::make<nn::GELU>();
///   Tensor y = m(randn({2}));
class GELU : public Module {
 public:
  enum class Approximate : std::uint8_t { none, tanh };

  explicit GELU(Approximate approximate = Approximate::none) : approximate_(approximate) {}
  /// "none" or "tanh". Throws ValueError for anything else.
  explicit GELU(std::string_view approximate) : GELU(parsed(approximate)) {}
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    return gelu(x, approximate_ == Approximate::tanh);
  }
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(approximate_); }
  [[nodiscard]] std::string extra_repr() const override {
    return approximate_ == Approximate::tanh ? "approximate='tanh'" : "approximate='none'";
  }

 private:
  static Approximate parsed(std::string_view text) {
    check<ValueError>(text == "none" || text == "tanh", "GELU: unknown approximate; got '", text,
                      "', expected 'none' or 'tanh'");
    return text == "tanh" ? Approximate::tanh : Approximate::none;
  }

  Approximate approximate_;
};

[[nodiscard]] constexpr auto names_of(GELU::Approximate /*of_this_type*/) {
  return std::array<std::string_view, 2>{"none", "tanh"};
}

}  // namespace tessera::nn
