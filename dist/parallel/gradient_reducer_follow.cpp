// Taking a model's parameters into the ranks' memory, at first and whenever others are trained.
#include <algorithm>
#include <optional>
#include <utility>

#include <tessera/core/autograd/meta.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/log.h>
#include <tessera/dist/parallel/reducer_sink.h>
#include <tessera/nn/buffer_step.h>

namespace tessera::dist {
namespace {

ReducerSink* sink_of(const Tensor& value, const GradientReducer& reducer) {
  const LeafNode* leaf = known_leaf_of(value);
  auto* sink = leaf != nullptr ? dynamic_cast<ReducerSink*>(leaf->sink.get()) : nullptr;
  return sink != nullptr && sink->belongs_to(reducer) ? sink : nullptr;
}

/// What a rank computed alone cannot be made the ranks' common gradient.
void check_no_gradient(const nn::Slot& slot) {
  check(!slot.value.grad().defined(), "data_parallel: ", slot.name,
        " has a gradient of this rank's samples alone; drop it before with zero_grad");
}

/// Throws for a parameter that another reducer keeps, too: each would bring it the sums of its own
/// model's uses.
void check_kept_alone(const std::vector<nn::Parameter>& parameters, const GradientReducer& own) {
  const GradientReducer* fine = &own;  // or another one, whose place this one takes
  for (const nn::Parameter& p : parameters) {
    const auto* other = dynamic_cast<const GradientReducer*>(p.slot()->synchronizer.get());
    check(other == nullptr || other == fine || other->lies_within(parameters),
          "data_parallel: ", p.slot()->name,
          " is shared with another model to which data_parallel was applied; apply it once, to a "
          "module that holds both");
    fine = other != nullptr ? other : fine;
  }
}

/// Where samples mix, microbatches run one by one.
void limit_passes(const nn::Module& model, int rank) {
  for (const auto& [path, module] : model.named_modules()) {
    if (!module->mixes_samples() || std::exchange(Context::current().mixes_samples, true)) {
      continue;
    }
    if (rank == 0) {
      log_info("data_parallel: ", path.empty() ? "the model" : path, " (", module->class_name(),
               ") mixes samples, so microbatches run one at a time");
    }
  }
}

}  // namespace

/// New parameters' first gradients have to come here too.
void GradientReducer::notice_new_parameters() {
  watch_.look();
  if (watch_.change() < WatchedModel::Change::trained) {
    return;
  }
  for (const nn::Parameter& parameter : watch_.model()->parameters()) {
    const nn::Slot& slot = *parameter.slot();
    if (is_trained(slot) && (slot.synchronizer == nullptr || keeps(slot)) &&
        leaf_of(slot.value).sink == nullptr) {
      leaf_of(slot.value).sink = std::make_shared<ReducerSink>(*this);
      newcomers_.push_back(slot.value);
    }
  }
}

void GradientReducer::follow_model(const nn::Module& model) {
  const auto self = shared_from_this();  // slots that leave let go of it
  check_kept_alone(model.parameters(), *this);
  const std::vector<nn::Parameter> parameters = parameters_to_keep(model);
  const auto known = [this](const nn::Parameter& p) { return lies_here(*p.slot()); };
  if (parameters_.data == nullptr || !std::ranges::all_of(parameters, known)) {
    lay_out(parameters);
  }
  for (std::size_t i = 0; i < places_.size(); ++i) {
    keep(i, parameters);
  }
  newcomers_.clear();
  set_buffers(model);
  limit_passes(model, comm_->rank());
  watch_.accept();
}

bool GradientReducer::lies_within(const std::vector<nn::Parameter>& parameters) const {
  return std::ranges::all_of(places_, [&](const Place& place) {
    const nn::SlotPtr slot = place.entry.alive.lock();
    return slot == nullptr || !keeps(*slot) ||
           std::ranges::any_of(parameters, [&](const auto& p) { return p.slot() == slot; });
  });
}

/// Those that are trained, and those that were.
std::vector<nn::Parameter> GradientReducer::parameters_to_keep(const nn::Module& model) const {
  std::vector<nn::Parameter> parameters = model.parameters();
  std::erase_if(parameters, [this](const nn::Parameter& p) {
    return !is_trained(*p.slot()) && !keeps(*p.slot());
  });
  return parameters;
}

bool GradientReducer::lies_here(const nn::Slot& slot) const {
  return keeps(slot) && std::ranges::any_of(places_, [&](const Place& place) {
           return place.entry.slot == &slot && &place.value.get() == &slot.value.get();
         });
}

/// Optimizer state goes along with those that stay.
void GradientReducer::lay_out(const std::vector<nn::Parameter>& parameters) {
  for (const nn::Parameter& p : parameters) {
    if (comm_->size() > 1 && !keeps(*p.slot())) {
      check_no_gradient(*p.slot());
    }
  }
  const std::vector<Bucket> before =
      std::exchange(buckets_, make_buckets(parameters, bucket_options_));
  carry_whole(before);
  const std::vector<std::int64_t> borders =
      std::exchange(borders_, deal_out(buckets_, host_->size()));
  const std::size_t nbytes = flat_bytes(buckets_);
  parameters_ = allocate_whole(*comm_, nbytes, MemoryCategory::parameter);
  peers_ = host_addresses();
  const auto more_blocks = static_cast<std::size_t>(tree_->max_blocks() - 1);
  gradients_ = allocate_whole(*comm_, nbytes, MemoryCategory::gradient, nbytes * more_blocks);
  move_parameters(buckets_, parameters_);
  const std::vector<Place> left = std::exchange(places_, {});
  make_places();
  const FlatSpace old{
      .comm = *comm_, .host = *host_, .nbytes = flat_bytes(before), .borders = borders};
  states_.move(old, space(), [this](const nn::Slot& slot) { return place_of_state(slot); });
  for (const Place& place : left) {
    const auto is_its = [&](const Place& now) { return &now.value.get() == &place.value.get(); };
    if (std::ranges::none_of(places_, is_its)) {
      let_go(place);
    }
  }
}

/// One rank goes on to own all of a parameter.
void GradientReducer::carry_whole(const std::vector<Bucket>& before) {
  for (Bucket& bucket : buckets_) {
    for (BucketEntry& entry : bucket.entries) {
      for (const Bucket& old : before) {
        entry.whole |= std::ranges::any_of(old.entries, [&](const BucketEntry& known) {
          return known.whole && known.slot == entry.slot && keeps(*entry.slot);
        });
      }
    }
  }
}

void GradientReducer::make_places() {
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    for (const BucketEntry& entry : buckets_[b].entries) {
      places_.push_back(
          {.entry = entry, .bucket = b, .name = entry.slot->name, .value = entry.slot->value});
    }
  }
  previous_.clear();
  progress_.assign(places_.size(), {});
  for (Progress& p : progress_) {
    p.filled.resize(blocks_.size());
  }
}

std::optional<FlatPlace> GradientReducer::place_of_state(const nn::Slot& slot) const {
  const auto place =
      std::ranges::find_if(places_, [&](const Place& p) { return p.entry.slot == &slot; });
  if (place == places_.end()) {
    return std::nullopt;
  }
  return FlatPlace{
      .offset = place->entry.offset, .count = place->entry.count, .own = own_range(slot)};
}

/// What has a place takes part while it is trained and in the model.
void GradientReducer::keep(std::size_t index, const std::vector<nn::Parameter>& parameters) {
  Place& place = places_[index];
  const nn::SlotPtr slot = place.entry.alive.lock();
  const bool in_model = slot != nullptr && std::ranges::any_of(parameters, [&](const auto& p) {
                          return p.slot() == slot;
                        });
  if (!in_model) {
    place.trained = place.agreed = false;
    return let_go(place);
  }
  slot->synchronizer = shared_from_this();
  if (sink_of(place.value, *this) == nullptr) {
    leaf_of(place.value).sink = std::make_shared<ReducerSink>(*this);
  }
  set_trained(index, is_trained(*slot));
  place.agreed = place.trained;
}

void GradientReducer::set_trained(std::size_t index, bool trained) {
  places_[index].trained = trained;
  sink_of(places_[index].value, *this)->set_place(trained ? index : ReducerSink::kNoPlace);
}

/// From now on the slot and its tensor are on their own.
void GradientReducer::let_go(const Place& place) {
  retire_sink(place.value);
  if (const nn::SlotPtr slot = place.entry.alive.lock(); slot != nullptr && keeps(*slot)) {
    slot->synchronizer = nullptr;
  }
}

/// It may be what called.
void GradientReducer::retire_sink(const Tensor& value) {
  if (ReducerSink* sink = sink_of(value, *this); sink != nullptr) {
    sink->set_place(ReducerSink::kNoPlace);
    retired_.push_back(std::exchange(leaf_of(value).sink, nullptr));
  }
}

void GradientReducer::set_buffers(const nn::Module& model) {
  for (const nn::SlotPtr& slot : buffers()) {
    slot->synchronizer = nullptr;
  }
  buffers_.clear();
  for (const auto& [name, buffer] : model.named_buffers()) {
    buffer.slot()->synchronizer = shared_from_this();
    buffers_.push_back(buffer.slot());
  }
  if (!buffers_.empty()) {
    nn::add_keeper_of_buffers(shared_from_this());
  }
}

}  // namespace tessera::dist
