#include <tessera/core/base/random_state.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include <tessera/core/base/context.h>
#include <tessera/core/base/philox.h>

namespace tessera {
namespace {

constexpr std::string_view kModels = "models", kFactories = "factories",
                           kBehindLoop = "behind a loop", kEvaluations = "evaluations",
                           kPath = "path ";

/// The path of which `name` says how often it drew.
bool read_path(std::string_view name, std::uint64_t& path) {
  if (!name.starts_with(kPath)) {
    return false;
  }
  const char* end = name.data() + name.size();
  const auto result = std::from_chars(name.data() + kPath.size(), end, path);
  return result.ec == std::errc() && result.ptr == end;
}

}  // namespace

RandomState random_state() {
  const Context& context = Context::current();
  RandomState state{{std::string(kModels), context.models_made},
                    {std::string(kFactories), context.factory_draws}};
  const RandomDraws draws = context.draws;
  const bool counts = draws.seed == context.seed && draws.step == context.step;
  if (context.pass.samples > 0 || !counts) {
    return state;  // a pass begins anew
  }
  state.emplace_back(kBehindLoop, draws.behind_loop ? 1 : 0);
  state.emplace_back(kEvaluations, draws.evaluations);
  for (const auto& [path, count] : draws.counts) {
    state.emplace_back(std::string(kPath) + std::to_string(path), count);
  }
  std::sort(state.begin() + 4, state.end());  // equal states are equal texts
  return state;
}

void set_random_state(const RandomState& state) {
  Context& context = Context::current();
  RandomDraws draws{context};
  for (const auto& [name, count] : state) {
    std::uint64_t path = 0;
    if (name == kModels) {
      context.models_made = count;
    } else if (name == kFactories) {
      context.factory_draws = count;
    } else if (name == kBehindLoop) {
      draws.behind_loop = count != 0;
    } else if (name == kEvaluations) {
      draws.evaluations = count;
    } else if (read_path(name, path)) {
      draws.counts[path] = count;
    }
  }
  context.draws = std::move(draws);
}

std::uint64_t next_model_key() {
  Context& context = Context::current();
  if (context.pass.samples == 0) {
    return mix(context.seed, context.models_made++);
  }
  const StepDraws of_step;
  const RandomPermission allowed(true);
  return next_random_key();
}

}  // namespace tessera
