#include <tessera/core/ops/logical.h>

namespace tessera {

void LogicalAnd::reference(Kernel& k, const Attrs&) {
  map_elements<2>(k, promote(k.input(0).dtype, k.input(1).dtype), [](auto x, auto y) {
    return std::int64_t{x != decltype(x)(0) && y != decltype(y)(0)};
  });
}
void LogicalOr::reference(Kernel& k, const Attrs&) {
  map_elements<2>(k, promote(k.input(0).dtype, k.input(1).dtype), [](auto x, auto y) {
    return std::int64_t{x != decltype(x)(0) || y != decltype(y)(0)};
  });
}
void LogicalNot::reference(Kernel& k, const Attrs&) {
  map_elements<1>(k, k.input().dtype, [](auto x) { return std::int64_t{x == decltype(x)(0)}; });
}

Tensor logical_and(const Tensor& x, const Tensor& y) {
  return call<LogicalAnd>({x, y});
}
Tensor logical_or(const Tensor& x, const Tensor& y) {
  return call<LogicalOr>({x, y});
}
Tensor logical_not(const Tensor& x) {
  return call<LogicalNot>({x});
}

const Register<LogicalAnd> register_logical_and;
const Register<LogicalOr> register_logical_or;
const Register<LogicalNot> register_logical_not;

}  // namespace tessera
