#include <tessera/nn/tree/named_list.h>

#include <tessera/nn/make.h>

namespace tessera::nn {
namespace {

struct NamedList : Module {};

}  // namespace

ModulePtr named_list(Module& owner, const std::string& name, std::span<const ModulePtr> modules) {
  const ModulePtr list = make<NamedList>();
  for (std::size_t i = 0; i < modules.size(); ++i) {
    list->register_module(tessera::detail::concat('v', i), modules[i]);
  }
  return owner.register_module(name, list);
}

}  // namespace tessera::nn
