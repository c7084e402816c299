// Settings whose values have names.
#pragma once

#include <optional>
#include <ostream>
#include <string_view>

namespace tessera::cpu {

/// What a SettingType of an enumeration inherits: texts are what `to_string` gives of one of `all`.
template <class Enum, Enum... all>
struct NamedSetting {
  static std::optional<Enum> parse(std::string_view text) {
    for (const Enum value : {all...}) {
      if (text == to_string(value)) {
        return value;
      }
    }
    return std::nullopt;
  }
  static void print(std::ostream& out, Enum value) { out << to_string(value); }
};

}  // namespace tessera::cpu
