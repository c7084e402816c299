#include <tessera/nn/call.h>

#include <algorithm>

namespace tessera::nn::detail {

void explain_undefined(const Module& module, std::size_t number, const Error& error) {
  const bool unbuilt =  // for want of an input that tells sizes
      dynamic_cast<const RuntimeError*>(&error) != nullptr &&
      std::ranges::any_of(slot_entries(module), [](const SlotEntryPtr& entry) {
        return entry->slot != nullptr && !entry->slot->value.defined();
      });
  if (number == 0 || (!unbuilt && dynamic_cast<const MissingTensor*>(&error) == nullptr)) {
    return;
  }
  const std::string path = current_module_path();
  fail<MissingTensor>(module.class_name(), path.empty() ? "" : " \"" + path + "\"", ": argument ",
                      number, " of forward is an undefined tensor; ", error.what());
}

}  // namespace tessera::nn::detail
