// Layers that are nothing but their settings.
#pragma once

#include <array>
#include <concepts>
#include <optional>
#include <string>
#include <tuple>

#include <tessera/nn/module.h>
#include <tessera/nn/python_text.h>

namespace tessera::nn {

/// A module that keeps what its constructor takes, printed as "name=value, name=value".
template <class... T>
class WithSettings : public Module {
 public:
  /// What the constructor takes to make this again.
  [[nodiscard]] std::tuple<T...> arguments() const { return settings_; }
  [[nodiscard]] std::string extra_repr() const override {
    std::string text;
    std::size_t number = 0;
    const auto add = [&](const auto& value) {
      text += text.empty() ? "" : ", ";
      text += tessera::detail::concat(names_[number++], "=", text_of(value));
    };
    std::apply([&](const auto&... values) { (add(values), ...); }, settings_);
    return text;
  }

 protected:
  using Names = std::array<const char*, sizeof...(T)>;
  explicit WithSettings(const Names& names, const T&... settings)
      : names_(names), settings_(settings...) {}
  [[nodiscard]] const std::tuple<T...>& settings() const { return settings_; }

 private:
  static std::string text_of(double value) { return python_text(value); }
  static std::string text_of(std::optional<int> value) {
    return value ? std::to_string(*value) : "None";
  }
  static std::string text_of(std::integral auto value) { return std::to_string(value); }
  static std::string text_of(const Shape& value) { return tessera::detail::concat(value); }

  Names names_;
  std::tuple<T...> settings_;
};

}  // namespace tessera::nn
