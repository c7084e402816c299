// expect: the hook cannot be called with (const nn::Module&, const nn::Args&
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/module.h>

void watch(tessera::nn::Linear& layer) {
  layer.register_forward_hook([](const tessera::Tensor&) {});
}
