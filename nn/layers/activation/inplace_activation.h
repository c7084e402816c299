// What activations share that can write their result into their input.
#pragma once

#include <string>
#include <tuple>

#include <tessera/nn/layers/settings.h>

namespace tessera::nn {

/// Returns in place, that is, the tensor that it was given. That may be no leaf that requires a
/// gradient, nor the input of a module with backward hooks: RuntimeError.
template <class... T>
class InplaceActivation : public WithSettings<T...> {
 public:
  using typename WithSettings<T...>::Names;
  explicit InplaceActivation(bool inplace, const Names& names = {}, const T&... settings)
      : WithSettings<T...>(names, settings...), inplace_(inplace) {}
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const {
    return std::tuple_cat(this->settings(), std::tuple(inplace_));
  }
  [[nodiscard]] std::string extra_repr() const override {
    const std::string settings = WithSettings<T...>::extra_repr();
    if (!inplace_) {
      return settings;
    }
    return settings.empty() ? "inplace=True" : settings + ", inplace=True";
  }
  [[nodiscard]] bool inplace() const { return inplace_; }

 private:
  bool inplace_;
};

}  // namespace tessera::nn
