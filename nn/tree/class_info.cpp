#include <tessera/nn/tree/class_info.h>

#include <cxxabi.h>

#include <cstdlib>

#include <tessera/nn/tree/module_access.h>

namespace tessera::nn {

bool ClassInfo::can_hold(const Module& module) const {
  const ClassInfo& given = detail::class_info(module);
  if (&given == this) {
    return true;
  }
  if (given.type == nullptr) {
    return type != nullptr && typeid(module) == *type;
  }
  return is_instance(module) && signature != nullptr && given.signature != nullptr &&
         *signature == *given.signature;
}

namespace detail {

std::string demangle_whole(const char* name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string result = status == 0 ? text : name;
  std::free(text);
  return result;
}

std::string demangle(const char* name) {
  std::string result = demangle_whole(name);
  const std::size_t template_args = result.find('<');
  result.resize(std::min(result.size(), template_args));
  const std::size_t scope = result.rfind("::");
  return scope == std::string::npos ? result : result.substr(scope + 2);
}

}  // namespace detail

}  // namespace tessera::nn
