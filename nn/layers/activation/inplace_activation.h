// What activations share that can write their result into their input.
#pragma once

#include <string>
#include <tuple>

#include <tessera/nn/module.h>

namespace tessera::nn {

/// In place, forward returns the tensor that it was given. That may be no leaf that requires a
/// gradient, nor the input of a module with backward hooks: RuntimeError.
class InplaceActivation : public Module {
 public:
  explicit InplaceActivation(bool inplace) : inplace_(inplace) {}
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(inplace_); }
  [[nodiscard]] std::string extra_repr() const override { return with_inplace(""); }
  [[nodiscard]] bool inplace() const { return inplace_; }

 protected:
  /// `settings` as printed, and behind them inplace=True where it is.
  [[nodiscard]] std::string with_inplace(const std::string& settings) const {
    if (!inplace_) {
      return settings;
    }
    return settings.empty() ? "inplace=True" : settings + ", inplace=True";
  }

 private:
  bool inplace_;
};

}  // namespace tessera::nn
