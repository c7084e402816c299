// What a step works on: the gradients that there are, whose they are, and the sums of their
// squares.
#include <unordered_set>

#include <tessera/core/autograd/meta.h>
#include <tessera/core/base/error.h>
#include <tessera/core/ops/block_squares.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/overlap.h>
#include <tessera/nn/optim/gradient_norm.h>
#include <tessera/nn/optim/parameter_update.h>

namespace tessera::optim {
namespace {

nn::ElementRange own_range(const nn::Slot& slot) {
  return slot.ownership != nullptr ? slot.ownership->own_range(slot)
                                   : nn::ElementRange{0, numel_of(slot.shape)};
}

/// What `slot` is to be updated with; undefined where it is frozen or no gradient was computed.
Tensor gradient_of(const nn::Slot& slot) {
  return slot.value.defined() && slot.requires_grad() ? slot.value.grad() : Tensor();
}

/// Throws ValueError where a kernel could not update the value in place.
void check_gradient(const nn::Slot& slot, const Tensor& gradient) {
  const TensorImpl& value = slot.value.get();
  check<ValueError>(value.device.type != DeviceType::meta, "optimizer: the parameter ", slot.name,
                    " has no data (meta); use to_empty() and load or initialise it");
  check<ValueError>(!repeats_elements(value), "optimizer: several elements of the parameter ",
                    slot.name, " share memory; got ", value.shape, " with strides ", value.strides,
                    ", expected clone(x) of the expanded tensor x");
  check<ValueError>(gradient.shape() == value.shape && gradient.dtype() == value.dtype,
                    "optimizer: the gradient of ", slot.name, " does not fit it; got ",
                    gradient.shape(), " ", gradient.dtype(), ", expected ", value.shape, " ",
                    value.dtype);
}

}  // namespace

/// The parameters that are trained and have a gradient, in order: the same ones on all ranks.
std::vector<Optimizer::ParameterUpdate> Optimizer::collect() {
  std::vector<ParameterUpdate> work;
  work.reserve(items_.size());
  for (Item& item : items_) {
    const nn::Slot& slot = *item.slot;
    Tensor gradient = gradient_of(slot);
    if (gradient.defined()) {
      check_known(slot);
      check_gradient(slot, gradient);
      work.push_back({&item,
                      contiguous(slot.value),
                      contiguous(std::move(gradient)),
                      slot.ownership.get(),
                      {}});
    }
  }
  keep_apart(work);
  return work;
}

/// A gradient that the program gave may lie in what the step writes; few steps have one.
void Optimizer::keep_apart(std::vector<ParameterUpdate>& work) {
  std::vector<const nn::Slot*> slots;
  std::vector<ParameterUpdate*> given;
  for (ParameterUpdate& w : work) {
    slots.push_back(w.item->slot.get());
    const LeafNode* leaf = known_leaf_of(w.item->slot->value);
    if (leaf != nullptr && leaf->grad_is_given()) {
      given.push_back(&w);
    }
  }
  nn::check_apart("optimizer", slots);
  if (given.empty()) {
    return;
  }
  std::unordered_set<const Storage*> written;
  for (const ParameterUpdate& w : work) {
    written.insert(w.item->slot->value.get().storage.get());
    for (const Tensor& state : w.item->state) {
      written.insert(state.get().storage.get());
    }
  }
  for (ParameterUpdate* w : given) {
    if (written.contains(w->gradient.get().storage.get())) {
      w->gradient = clone(w->gradient);
    }
  }
}

/// Finds out what this rank updates. Where parameters are dealt out whole, which moves what others
/// keep, all ranks must be known to do so.
void Optimizer::assign_owners(std::vector<ParameterUpdate>& work,
                              const std::vector<nn::Ownership*>& sharing) {
  if (!elementwise()) {
    for (nn::Ownership* ownership : sharing) {
      ownership->end_comparison([&] { return step_facts(work); });
    }
    for (const ParameterUpdate& w : work) {
      if (w.ownership != nullptr) {
        w.ownership->assign_owner(*w.item->slot);
      }
    }
  }
  for (ParameterUpdate& w : work) {  // now that the ranks know which ones they keep whole
    w.own = own_range(*w.item->slot);
  }
}

/// Sum of squares of each gradient.
std::vector<double> Optimizer::squares_of(const std::vector<ParameterUpdate>& work,
                                          std::vector<nn::Ownership*> sharing) const {
  std::vector<double> squares(work.size(), 0.0);
  sharing.push_back(nullptr);
  for (nn::Ownership* ownership : sharing) {
    std::vector<GradientPart> parts;
    parts.reserve(work.size());
    for (const ParameterUpdate& w : work) {
      if (w.ownership == ownership) {
        parts.push_back({w.gradient, w.own});
      }
    }
    std::vector<double> blocks = sums_by_block(parts);
    if (ownership != nullptr) {
      ownership->end_comparison([&] { return step_facts(work); });
      ownership->all_reduce_numbers(blocks);
    }
    auto block = blocks.begin();
    for (std::size_t i = 0; i < work.size(); ++i) {
      if (work[i].ownership == ownership) {
        for (std::int64_t n = BlockSquares::blocks(work[i].gradient.numel()); n > 0; --n) {
          squares[i] += *block++;
        }
      }
    }
  }
  return squares;
}

}  // namespace tessera::optim
