// Pure calls of modules whose class is not known.
#include <tessera/nn/functional/pure_scope.h>
#include <tessera/nn/tree/module.h>

namespace tessera::nn {

Tensor Module::call(const Tensor& x) const {
  const PureScope scope(*this, {});
  Tensor y = (*this)(x);
  scope.finish();
  return y;
}

std::pair<Tensor, ModulePtr> Module::call_and_update(const Tensor& x) const {
  PureScope scope(*this, {});
  Tensor y = (*this)(x);
  scope.finish();
  return {std::move(y), scope.updated()};
}

ModulePtr Module::update(const Tensor& x) const {
  return call_and_update(x).second;
}

}  // namespace tessera::nn
