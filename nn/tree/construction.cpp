#include <tessera/nn/tree/construction.h>

#include <utility>

namespace tessera::nn::detail {
namespace {

thread_local int depth = 0;
thread_local const ClassInfo* pending = nullptr;

}  // namespace

Construction::Construction(const ClassInfo& info) {
  ++depth;
  pending = &info;
}

Construction::~Construction() {
  --depth;
  pending = nullptr;  // where the constructor threw before its base class could take it
}

bool Construction::outermost() const {
  return depth == 1;
}

const ClassInfo& Construction::take_class() {
  static const ClassInfo unknown{.name = "Module"};
  const ClassInfo* found = std::exchange(pending, nullptr);
  return found == nullptr ? unknown : *found;
}

}  // namespace tessera::nn::detail
