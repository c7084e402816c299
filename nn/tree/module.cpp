#include <tessera/nn/tree/module.h>

#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/nn/build/builder.h>
#include <tessera/nn/build/construction.h>
#include <tessera/nn/state/tree_def.h>
#include <tessera/nn/tree/sub_mods.h>

namespace tessera::nn {

Module::Module() {
  detail::Construction::Start start = detail::Construction::start();
  data_.info = start.info;
  data_.build.options = std::move(start.options);
}

Module::~Module() {
  for (const ChildEntryPtr& entry : data_.children) {
    detail::disown(*this, entry->module);
  }
}

// What gives a type that the class's header only mentions.

BuildStatus Module::build(const Args& args, const Kwargs& kwargs, const BuildOptions& options) {
  return detail::build(*this, args, kwargs, options);
}

BuildStatus Module::build(const Args& args, const Kwargs& kwargs) {
  return build(args, kwargs, {});
}

Variables Module::top_v(std::optional<int> levels) const {
  return top_mod(levels).v();
}

SubMods Module::sub_mods(const SubModsOptions& options) const {
  return detail::sub_mods(*this, options);
}

SubMods Module::sub_mods() const {
  return sub_mods({});
}

Variables Module::v() const {
  return detail::v(*this);
}

Variables Module::variables() const {
  return detail::variables(*this);
}

std::pair<std::vector<Tensor>, TreeDef> Module::flatten() const {
  return detail::flatten(*this);
}

Tensor Module::clone(const Tensor& x) {
  return tessera::clone(x);
}

Tensor Module::flatten(const Tensor& x, int first, int last) {
  return tessera::flatten(x, first, last);
}

Tensor Module::unflatten(const Tensor& x, int dim, const Shape& sizes) {
  return tessera::unflatten(x, dim, sizes);
}

}  // namespace tessera::nn
