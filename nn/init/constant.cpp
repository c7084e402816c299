#include <tessera/nn/init/constant.h>

#include <tessera/nn/init/fill.h>

namespace tessera::nn::init {

Initializer constant(double value) {
  return [value](const Tensor& target, const Box&, const RandomStream&) {
    visit_dtype(target.dtype(), [&]<class T>() {
      T* data = target.get().data<T>();
      std::fill(data, data + target.numel(), convert<T>(value));
    });
  };
}

Initializer zeros() {
  return constant(0);
}

Initializer ones() {
  return constant(1);
}

}  // namespace tessera::nn::init
