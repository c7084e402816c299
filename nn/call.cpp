#include <tessera/nn/call.h>

namespace tessera::nn::detail {

void explain_undefined(const Module& module, std::size_t number, const Error& error) {
  const bool may_be = dynamic_cast<const InvalidArgument*>(&error) != nullptr ||
                      dynamic_cast<const RuntimeError*>(&error) != nullptr;
  if (number == 0 || !may_be) {
    return;
  }
  const std::string path = current_module_path();
  fail<InvalidArgument>(module.class_name(), path.empty() ? "" : " \"" + path + "\"", ": argument ",
                        number, " of forward is an undefined tensor; ", error.what());
}

}  // namespace tessera::nn::detail
