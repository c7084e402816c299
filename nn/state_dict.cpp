#include <algorithm>
#include <map>
#include <sstream>

#include <tessera/core/autograd/modes.h>
#include <tessera/core/ops/cast.h>
#include <tessera/nn/tree/module.h>

namespace tessera::nn {
namespace {

std::vector<std::pair<std::string, SlotPtr>> persistent_slots(const Module& module) {
  auto slots = module.named_slots();
  std::erase_if(slots, [](const auto& entry) { return !entry.second->persistent; });
  return slots;
}

/// One line a problem, as torch.nn.Module words them.
std::string describe_problems(const LoadResult& result, const std::vector<std::string>& sizes,
                              bool strict) {
  std::ostringstream text;
  const auto list = [&](const char* title, const std::vector<std::string>& keys) {
    if (strict && !keys.empty()) {
      text << "\n  " << title;
      for (const std::string& key : keys) {
        text << ' ' << key;
      }
    }
  };
  list("missing keys:", result.missing_keys);
  list("unexpected keys:", result.unexpected_keys);
  for (const std::string& line : sizes) {
    text << "\n  " << line;
  }
  return text.str();
}

}  // namespace

StateDict Module::state_dict() const {
  StateDict state;
  for (const auto& [name, slot] : persistent_slots(*this)) {
    state.emplace_back(name, slot->value.detach());
  }
  return state;
}

LoadResult Module::load_state_dict(const StateDict& state, bool strict) {
  std::map<std::string, Tensor> given(state.begin(), state.end());
  LoadResult result;
  std::vector<std::string> sizes;
  std::vector<std::pair<SlotPtr, Tensor>> copies;
  for (const auto& [name, slot] : persistent_slots(*this)) {
    const auto found = given.find(name);
    if (found == given.end()) {
      result.missing_keys.push_back(name);
      continue;
    }
    if (found->second.shape() != slot->shape) {
      sizes.push_back(tessera::detail::concat("size mismatch for ", name, ": got ",
                                              found->second.shape(), ", expected ", slot->shape));
    }
    copies.emplace_back(slot, found->second);
    given.erase(found);
  }
  for (const auto& [name, tensor] : state) {
    if (given.contains(name)) {
      result.unexpected_keys.push_back(name);
    }
  }
  const std::string problems = describe_problems(result, sizes, strict);
  check(problems.empty(), "load_state_dict: errors for ", class_name(), ":", problems);
  const NoGradGuard no_grad;
  for (const auto& [slot, tensor] : copies) {
    static_cast<void>(call_into<Cast>(slot->value, {tensor}, {slot->value.dtype()}));
  }
  return result;
}

}  // namespace tessera::nn
