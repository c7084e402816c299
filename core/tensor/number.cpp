#include <tessera/core/tensor/number.h>

#include <tessera/core/tensor/elements.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {

Tensor Number::tensor() const {
  Tensor x = empty({}, {.dtype = dtype_});
  x.get().number = true;
  if (dtype_ == DType::i64) {
    store_as(x.get(), 0, integer_);
  } else {
    store_as(x.get(), 0, value_);
  }
  return x;
}

}  // namespace tessera
