// A bucket's memory, lent to a forward pass that computes a gradient already.
#pragma once

#include <cstddef>

#include <tessera/core/tensor/tensor.h>

namespace tessera::dist {

/// The place of one parameter's gradient, lent at most once at a time. A loan is held while
/// anybody but this object holds the lent tensor's storage.
class LentGradient {
 public:
  /// Lends `place`, the gradient of the rank's block number `block`, whose storage nobody else
  /// holds; undefined while an earlier loan is held.
  [[nodiscard]] Tensor lend(Tensor place, std::size_t block);

  [[nodiscard]] bool held(std::size_t block) const;

  /// Gives those who hold a loan of `block` a copy in memory of their own: to be called before the
  /// place is written to by anybody else.
  void evict(std::size_t block);

 private:
  [[nodiscard]] bool held() const;

  Tensor place_;
  std::size_t block_ = 0;
};

}  // namespace tessera::dist
