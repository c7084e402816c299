#include <tessera/nn/call.h>

#include <cxxabi.h>

#include <cstdlib>

#include <tessera/core/autograd/checkpoint.h>

namespace tessera::nn::detail {
namespace {

thread_local int depth = 0;

}  // namespace

Construction::Construction() {
  ++depth;
}

Construction::~Construction() {
  --depth;
}

bool Construction::outermost() const {
  return depth == 1;
}

std::string demangle(const char* name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string result = status == 0 ? text : name;
  std::free(text);
  const std::size_t template_args = result.find('<');
  result.resize(std::min(result.size(), template_args));
  const std::size_t scope = result.rfind("::");
  return scope == std::string::npos ? result : result.substr(scope + 2);
}

bool hooks_are_off() {
  return is_recomputing();
}

}  // namespace tessera::nn::detail
