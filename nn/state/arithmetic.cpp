// Computing with trees of tensors, leaf by leaf.
#include <tessera/core/ops/support/arithmetic.h>
#include <tessera/nn/state/variables.h>

namespace tessera::nn {

Variables operator+(const Variables& a, const Variables& b) {
  return a.zip_map([](const Tensor& x, const Tensor& y) { return tessera::operator+(x, y); }, b);
}
Variables operator-(const Variables& a, const Variables& b) {
  return a.zip_map([](const Tensor& x, const Tensor& y) { return tessera::operator-(x, y); }, b);
}
Variables operator*(const Variables& a, const Variables& b) {
  return a.zip_map([](const Tensor& x, const Tensor& y) { return tessera::operator*(x, y); }, b);
}
Variables operator/(const Variables& a, const Variables& b) {
  return a.zip_map([](const Tensor& x, const Tensor& y) { return tessera::operator/(x, y); }, b);
}
Variables operator+(const Variables& a, double b) {
  return a.map([b](const Tensor& x) { return tessera::operator+(x, b); });
}
Variables operator-(const Variables& a, double b) {
  return a.map([b](const Tensor& x) { return tessera::operator-(x, b); });
}
Variables operator*(const Variables& a, double b) {
  return a.map([b](const Tensor& x) { return tessera::operator*(x, b); });
}
Variables operator/(const Variables& a, double b) {
  return a.map([b](const Tensor& x) { return tessera::operator/(x, b); });
}
Variables operator+(double a, const Variables& b) {
  return b + a;
}
Variables operator*(double a, const Variables& b) {
  return b * a;
}

}  // namespace tessera::nn
