#include <tessera/dist/parallel/lent_gradient.h>

#include <utility>

namespace tessera::dist {

bool LentGradient::held() const {
  return place_.defined() && place_.get().storage->use_count() > 1;
}

bool LentGradient::held(std::size_t block) const {
  return held() && block_ == block;
}

Tensor LentGradient::lend(Tensor place, std::size_t block) {
  if (held()) {
    return {};
  }
  place_ = std::move(place);
  block_ = block;
  return place_;
}

void LentGradient::evict(std::size_t block) {
  if (held(block)) {
    place_.get().storage->leave_owner();
    place_ = Tensor();
  }
}

}  // namespace tessera::dist
