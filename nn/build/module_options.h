// How a module is built: where its state lies, when it is made, or which it is given.
//
//   auto model = nn::make<Mlp>(nn::ModuleOptions{.dtype = DType::f64}, 784, 10);
//   nn::Child<nn::Linear> head{this, "head", nn::ModuleOptions{.v = weights}, 512, 10};
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/core/tensor/tensor.h>
#include <tessera/nn/state/variables.h>

namespace tessera::nn {

/// When a module makes its state.
enum class BuildMode : std::uint8_t {
  on_init,     ///< when it is constructed
  explicitly,  ///< when `build` is called; a call before that throws RuntimeError
  on_call,     ///< when it is first called, with what the call says about shapes and dtypes
};

[[nodiscard]] std::string_view to_string(BuildMode mode) noexcept;
/// "on_init", "explicit" or "on_call". Throws ValueError for another text.
[[nodiscard]] BuildMode parse_build_mode(std::string_view text);

/// The first argument of `make` or `Child`. Children take over `device`, `devices`, `dtype`,
/// `build_mode` and `store_vars` from the module that constructs them, and their part of `v`.
struct ModuleOptions {
  /// The name under which a function that calls the module holds its state.
  std::optional<std::string> name = {};
  /// The device of new state; else the first of `devices`, else the CPU.
  std::optional<Device> device = {};
  /// The devices over which state may be distributed; `device` is one of them.
  std::vector<Device> devices = {};
  /// The dtype of new state; else that of the first floating or complex tensor of the call, where a
  /// call builds, else f32.
  std::optional<DType> dtype = {};
  /// Stand in place of parameters that would be made. Shapes and dtypes must be those; so must
  /// names, of which `with_partial_v` allows some to be missing. The tensors' memory is used.
  std::optional<Variables> v = {};
  bool with_partial_v = false;
  std::optional<BuildMode> build_mode = {};  ///< else `on_init`
  /// False: the module keeps no parameters; `build` returns them, new or those of `v`, and every
  /// call is given them.
  std::optional<bool> store_vars = {};
};

/// What one call of `build` may be told.
struct BuildOptions {
  std::optional<Device> device = {};  ///< in place of the module's own from now on
  std::optional<DType> dtype = {};
};

/// What `build` came to.
struct BuildStatus {
  bool complete = false;     ///< false: it, or a module below, waits for its first call
  Variables variables = {};  ///< the parameters there are
  explicit operator bool() const { return complete; }
};

}  // namespace tessera::nn
