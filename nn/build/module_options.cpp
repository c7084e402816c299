#include <tessera/nn/build/module_options.h>

#include <array>

#include <tessera/core/base/error.h>

namespace tessera::nn {
namespace {

constexpr std::array<std::string_view, 3> kNames{"on_init", "explicit", "on_call"};

}  // namespace

std::string_view to_string(BuildMode mode) noexcept {
  return kNames[static_cast<std::size_t>(mode)];
}

BuildMode parse_build_mode(std::string_view text) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (text == kNames[i]) {
      return static_cast<BuildMode>(i);
    }
  }
  fail<ValueError>("build mode: unknown text; got \"", text,
                   "\", expected on_init, explicit or on_call");
}

}  // namespace tessera::nn
