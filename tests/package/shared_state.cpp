#include "shared_state.h"

#include <utility>

#include <tessera/tessera.h>

namespace outside {
namespace {

using namespace tessera;

struct Fails : nn::Module {
  Tensor forward(const Tensor& x) const { return matmul(x, ones({77, 3})); }
};

struct Holder : nn::Module {
  nn::Child<Fails> fails{this, "fails"};
  Tensor forward(const Tensor& x) const { return fails(x); }
};

struct Rectifier : nn::Module {
  nn::Child<nn::ReLU> relu{this, "relu"};
  Tensor forward(const Tensor& x) const { return relu(x); }
};

bool modes_are_shared() {
  const Tensor w = ones({2}).set_requires_grad(true);
  const NoGradGuard guard;
  return !(w * 2).requires_grad();
}

bool path_is_shared() {
  try {
    static_cast<void>(nn::make<Holder>()(ones({2, 3})));
  } catch (const Error& error) {
    return std::string(error.what()).find("fails") != std::string::npos;
  }
  return false;
}

bool calls_are_shared() {
  const auto model = nn::make<Rectifier>();
  static_cast<void>(model(ones({2}), nn::CallOptions{.track_submod_rets = true}));
  return nn::last_trace().rets.size() == 1;
}

}  // namespace

std::string state_that_is_not_shared() {
  std::string names;
  for (const auto& [name, shared] : {std::pair{" modes", &modes_are_shared},
                                     {" path", &path_is_shared},
                                     {" calls", &calls_are_shared}}) {
    names += shared() ? "" : name;
  }
  return names;
}

}  // namespace outside
