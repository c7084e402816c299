#include <tessera/core/tensor/array_loops.h>

#include <tessera/core/base/error.h>

namespace tessera {
namespace {

constinit FindArrayLoops find_loops = nullptr;

}  // namespace

const ArrayLoops& array_loops() {
  check<InternalError>(find_loops != nullptr, "reduce: no kernels in this build");
  return find_loops();
}

bool set_array_loops(FindArrayLoops find) {
  find_loops = find;
  return true;
}

}  // namespace tessera
