// What bench_kernels measures.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <tessera/core/tensor/factories.h>

#include "../../roofs.h"

namespace bench {

/// One thing to measure: `work` is FLOPs or bytes of one call.
struct Subject {
  std::string name, labels;
  Roof roof;
  double work;
  std::function<void()> call;
  std::function<void()> rival;  ///< the same by oneDNN, or empty
};

inline tessera::Tensor values(std::int64_t rows, std::int64_t columns) {
  return tessera::rand({rows, columns});
}

}  // namespace bench
