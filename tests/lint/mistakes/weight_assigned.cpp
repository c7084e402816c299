// expect: weight.tie(other)
#include <tessera/nn/module.h>

void share(tessera::nn::Parameter& head, const tessera::nn::Parameter& embedding) {
  head = embedding;
}
