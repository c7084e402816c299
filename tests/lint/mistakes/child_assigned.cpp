// expect: set_submodule(name, other.ptr())
#include <tessera/nn/layers/linear.h>

void share(tessera::nn::Child<tessera::nn::Linear>& one,
           const tessera::nn::Child<tessera::nn::Linear>& other) {
  one = other;
}
