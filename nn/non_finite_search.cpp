#include <tessera/nn/non_finite_search.h>

#include <algorithm>
#include <vector>

#include <tessera/core/base/random_scope.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/isfinite.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/core/tensor/transfer.h>

namespace tessera::nn {
namespace {

bool all_finite(const Tensor& x) {
  if (!is_floating(x.dtype())) {
    return true;
  }
  const Tensor finite = to_host(contiguous(isfinite(x)));
  const bool* begin = finite.data<bool>();
  return std::all_of(begin, begin + finite.numel(), [](bool f) { return f; });
}

std::string describe(const std::string& path, const Module& module) {
  std::string text = path.empty() ? "the model itself" : "module " + path;
  text.append(" (").append(module.class_name()).append(")");
  for (const auto& [name, parameter] : module.named_parameters()) {
    if (!all_finite(parameter)) {
      return text.append(", whose parameter ").append(name).append(" is not finite");
    }
  }
  return text;
}

}  // namespace

std::optional<std::string> find_non_finite(Module& model, const std::function<void()>& forward) {
  std::optional<std::string> found;
  std::vector<ScopedHandle> hooks;
  for (const auto& named : model.named_modules()) {
    const std::string path = named.first;
    hooks.emplace_back(named.second->register_forward_hook(
        [&found, path](const Module& caller, const Args&, const Value& output) {
          if (!found && output.is<Tensor>() && !all_finite(output.tensor())) {
            found = describe(path, caller);
          }
        }));
  }
  const InferenceGuard inference;
  const RandomScope random({});
  forward();
  return found;
}

}  // namespace tessera::nn
