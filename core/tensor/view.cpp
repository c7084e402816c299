#include <tessera/core/tensor/view.h>

#include <tessera/core/tensor/modes.h>

namespace tessera {

void link_view(TensorImpl& view, const Ref<TensorImpl>& shown) {
  if (Modes::current().record && !shown->untracked_view) {
    view.base = shown->base ? shown->base : shown;
  } else {
    view.untracked_view = true;
    view.untracked_gradient = shown->untracked_gradient || is_on_tape(*shown);
  }
  view.boundary = shown->boundary;
  view.inference = view.inference || shown->inference;
  view.settle_stages();
}

}  // namespace tessera
