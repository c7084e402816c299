#include <tessera/nn/tree/named_list.h>

#include <tessera/nn/make.h>

namespace tessera::nn {
namespace {

struct Group : Module {};

}  // namespace

ModulePtr named_list(Module& owner, const std::string& name, std::span<const ModulePtr> modules) {
  const ModulePtr group = make<Group>();
  for (std::size_t i = 0; i < modules.size(); ++i) {
    group->register_module(tessera::detail::concat('v', i), modules[i]);
  }
  return owner.register_module(name, group);
}

}  // namespace tessera::nn
