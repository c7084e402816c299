// The reducer's part in an optimizer's step: who updates what, and how all ranks get it.
#include <algorithm>
#include <functional>

#include <tessera/core/device/huge_pages.h>
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
        entry.whole = true;
        borders_ = deal_out(buckets_, host_->size());
      }
    }
  }
}

/// What the host's rank `rank` updates, in flat memory.
std::span<float> GradientReducer::part_of_rank(const CommBuffer& flat, int rank) const {
  const auto at = static_cast<std::size_t>(rank);
  return {reinterpret_cast<float*>(flat.data) + borders_[at],
          static_cast<std::size_t>(borders_[at + 1] - borders_[at])};
}

/// States lie in flat buffers like the parameters; pages that other ranks own stay untouched.
Tensor GradientReducer::make_state(const nn::Slot& slot, const Shape& shape) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].entry.slot == &slot) {
      const std::size_t number = states_given_[i]++;
      if (number == states_.size()) {
        states_.push_back(
            allocate_counted(*comm_, flat_bytes(buckets_), MemoryCategory::optimizer));
        take_pages(std::as_writable_bytes(part_of_rank(states_.back(), host_->rank())));
      }
      return tensor_at(states_[number], places_[i].entry.offset, shape);
    }
  }
  fail<InternalError>("data_parallel: not a parameter of the model: ", slot.name);
}

void GradientReducer::share(std::span<double> values) {
  wait(all_reduce<double>(*host_, values, ReduceOp::sum, "gradient norm"));
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

void GradientReducer::set_buffers(const std::vector<nn::Buffer>& buffers) {
  for (const nn::Buffer& buffer : buffers) {
    buffers_.push_back(buffer.slot());
  }
}

void GradientReducer::share_bytes(std::span<std::uint8_t> bytes) {
  wait(all_reduce<std::uint8_t>(*comm_, bytes, ReduceOp::sum, "buffers"));
}

void GradientReducer::gather_states() {
  for (const CommBuffer& state : states_) {
    for (int r = 1; r < host_->size(); ++r) {
      const std::span<float> part = part_of_rank(state, r);
      if (host_->rank() == r) {
        wait(send<float>(*host_, part, 0, "optimizer state"));
      } else if (host_->rank() == 0) {
        wait(receive<float>(*host_, part, r, "optimizer state"));
      }
    }
  }
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
    wait(barrier(*host_, "weights"));
  }
  for (const Place& place : places_) {
    place.entry.slot->value.get().storage->bump_version();
  }
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
    if (const std::span<float> part = part_of_rank(parameters_, r); !part.empty()) {
      wait(broadcast<float>(*host_, part, r, "weights"));
    }
  }
}

}  // namespace tessera::dist
