// The reducer's part in an optimizer's step: who updates what, and how all ranks get it.
#include <algorithm>
#include <functional>

#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/parallel/cold_copy.h>
#include <tessera/dist/parallel/gradient_reducer.h>

namespace tessera::dist {

nn::ElementRange GradientReducer::own_range(const nn::Slot& slot) const {
  const auto place =
      std::ranges::find_if(places_, [&](const Place& p) { return p.entry.slot == &slot; });
  check<InternalError>(place != places_.end(),
                       "data_parallel: not a parameter of the model: ", slot.name);
  const auto rank = static_cast<std::size_t>(host_->rank());
  const BucketEntry& entry = place->entry;
  const std::int64_t first =
      std::clamp(borders_[rank] - entry.offset, std::int64_t{0}, entry.count);
  const std::int64_t last =
      std::clamp(borders_[rank + 1] - entry.offset, std::int64_t{0}, entry.count);
  return {.first = first, .count = last - first};
}

/// Borders within other parameters stay where they are.
void GradientReducer::keep_whole(const nn::Slot& slot) {
  for (Bucket& bucket : buckets_) {
    for (BucketEntry& entry : bucket.entries) {
      if (entry.slot == &slot && !entry.whole) {
        states_.complete(space());  // another optimizer may keep some of it
        entry.whole = true;
        borders_ = deal_out(buckets_, host_->size());
      }
    }
  }
}

FlatSpace GradientReducer::space() const {
  return {.comm = *comm_, .host = *host_, .nbytes = flat_bytes(buckets_), .borders = borders_};
}

Tensor GradientReducer::make_state(const nn::Slot& slot, const Shape& shape) {
  for (const Place& place : places_) {
    if (place.entry.slot == &slot) {
      return states_.make(space(), place.entry.alive, place.entry.offset, shape);
    }
  }
  fail<InternalError>("data_parallel: not a parameter of the model: ", slot.name);
}

void GradientReducer::share(std::span<double> values) {
  wait(all_reduce<double>(*host_, values, ReduceOp::sum, "optimizer.step(): gradient norm"));
}

std::vector<nn::SlotPtr> GradientReducer::buffers() const {
  std::vector<nn::SlotPtr> alive;
  for (const std::weak_ptr<nn::Slot>& buffer : buffers_) {
    if (nn::SlotPtr slot = buffer.lock()) {
      alive.push_back(std::move(slot));
    }
  }
  return alive;
}

void GradientReducer::share_bytes(std::span<std::uint8_t> bytes) {
  wait(all_reduce<std::uint8_t>(*comm_, bytes, ReduceOp::sum,
                                "what the step's forwards assigned to buffers"));
}

void GradientReducer::gather_states() {
  states_.gather(space());
}

/// Nobody reads old weights any more: all ranks have shared the norm.
void GradientReducer::publish(const Tensor& updated) {
  const std::span values(updated.data<float>(), static_cast<std::size_t>(updated.numel()));
  const auto bytes = std::as_bytes(values);
  const std::less_equal<const std::byte*> up_to;
  const std::byte* end = parameters_.data + flat_bytes(buckets_);
  check(host_->size() == 1 ||
            (up_to(parameters_.data, bytes.data()) && up_to(bytes.data() + bytes.size(), end)),
        "data_parallel: a parameter lies outside the memory that ranks share: its tensor was "
        "replaced after data_parallel was applied");
  copy_past_caches(bytes, peers_, static_cast<std::size_t>(bytes.data() - parameters_.data));
}

void GradientReducer::finish_parameters() {
  if (peers_.empty()) {
    broadcast_parameters();
  } else {
    wait(barrier(*host_, "optimizer.step(): weights"));
  }
  for (const Place& place : places_) {
    if (place.trained) {
      place.value.get().storage->bump_version();
    }
  }
  watch_.accept_update();
}

/// Where the parameters of the host's other ranks lie for this one; empty unless it reaches all.
std::vector<std::byte*> GradientReducer::host_addresses() const {
  std::vector<std::byte*> peers;
  const std::string here = comm_->host(comm_->rank());
  for (int r = 0; r < comm_->size(); ++r) {
    if (r == comm_->rank() || comm_->host(r) != here) {
      continue;
    }
    const auto at = static_cast<std::size_t>(r);
    if (at >= parameters_.peers.size() || parameters_.peers[at] == nullptr) {
      return {};
    }
    peers.push_back(parameters_.peers[at]);
  }
  return peers;
}

void GradientReducer::broadcast_parameters() {
  for (int r = 0; r < host_->size(); ++r) {
    if (const std::span<float> part = space().part_of_rank(parameters_, r); !part.empty()) {
      wait(broadcast<float>(*host_, part, r, "optimizer.step(): weights"));
    }
  }
}

}  // namespace tessera::dist
