#include <tessera/dist/parallel/flat_ownership.h>

#include <algorithm>
#include <utility>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/cast.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/parallel/cold_copy.h>

namespace tessera::dist {
namespace {

std::shared_ptr<Communicator> ranks_of_host(Communicator& comm) {
  int first = 0;
  while (comm.host(first) != comm.host(comm.rank())) {
    ++first;
  }
  return comm.split(first, comm.rank(), comm.name() + "/host");
}

template <class F>
void for_each_entry(std::vector<Bucket>& buckets, const F& f) {
  for (Bucket& bucket : buckets) {
    std::ranges::for_each(bucket.entries, f);
  }
}

}  // namespace

FlatOwnership::FlatOwnership(std::shared_ptr<Communicator> comm, WatchedModel& watched,
                             TimedWaits& waits)
    : comm_(std::move(comm)), host_(ranks_of_host(*comm_)), watched_(watched), waits_(waits) {}

FlatSpace FlatOwnership::space() const {
  return {.comm = *comm_,
          .host = *host_,
          .device = device_,
          .count = flat_count(buckets_),
          .borders = borders_};
}

void FlatOwnership::lay_out(std::vector<Bucket> buckets, const Device& device) {
  for_each_entry(buckets, [this](BucketEntry& entry) {
    const BucketEntry* known = keeps(*entry.slot) ? find(*entry.slot) : nullptr;
    entry.whole = known != nullptr && known->whole;  // one rank goes on to own all of it
  });
  FlatMemory parameters(*comm_, device, flat_count(buckets), MemoryCategory::parameter);
  parameters.take_pages({0, flat_count(buckets)});
  const std::vector<Bucket> before = std::exchange(buckets_, std::move(buckets));
  const std::vector<std::int64_t> borders =
      std::exchange(borders_, deal_out(buckets_, host_->size()));
  device_ = device;
  parameters_ = std::move(parameters);
  peers_ = parameters_.peers_on_host(*comm_);
  for_each_entry(buckets_, [this](const BucketEntry& entry) {
    const Tensor& value = entry.slot->value;
    static_cast<void>(call_into<Cast>(parameters_.at(entry.offset, entry.slot->shape),
                                      {value.detach()}, {DType::f32}));
    parameters_.hold(value, entry.offset);
  });
  const FlatSpace old{.comm = *comm_,
                      .host = *host_,
                      .device = device,
                      .count = flat_count(before),
                      .borders = borders};
  states_.move(old, space(), [this](const nn::Slot& slot) -> std::optional<FlatLocation> {
    const BucketEntry* entry = find(slot);
    if (entry == nullptr) {
      return std::nullopt;
    }
    return location_of(*entry);
  });
}

const BucketEntry* FlatOwnership::find(const nn::Slot& slot) const {
  for (const Bucket& bucket : buckets_) {
    const auto entry = std::ranges::find(bucket.entries, &slot, &BucketEntry::slot);
    if (entry != bucket.entries.end()) {
      return &*entry;
    }
  }
  return nullptr;
}

const BucketEntry& FlatOwnership::entry_of(const nn::Slot& slot) const {
  const BucketEntry* entry = find(slot);
  check<InternalError>(entry != nullptr,
                       "data_parallel: not a parameter of the model: ", slot.name);
  return *entry;
}

bool FlatOwnership::lies_within(const std::vector<nn::Parameter>& parameters) const {
  const std::shared_ptr<nn::Module> model = watched_.model();
  const auto lies_there = [&](const nn::Parameter& own) {
    return !keeps(*own.slot()) ||
           std::ranges::any_of(parameters, [&](const auto& p) { return p.slot() == own.slot(); });
  };
  return model == nullptr || std::ranges::all_of(model->parameters(), lies_there);
}

nn::ElementRange FlatOwnership::own_range(const BucketEntry& entry) const {
  const FlatRange own = FlatRange{entry.offset, entry.offset + entry.count}.common_with(
      space().part_of(host_->rank()));
  return {.first = std::min(own.first - entry.offset, entry.count), .count = own.count()};
}

FlatLocation FlatOwnership::location_of(const BucketEntry& entry) const {
  return {.offset = entry.offset, .count = entry.count, .own = own_range(entry)};
}

nn::ElementRange FlatOwnership::own_range(const nn::Slot& slot) const {
  return own_range(entry_of(slot));
}

/// Borders within other parameters stay where they are.
void FlatOwnership::assign_owner(const nn::Slot& slot) {
  for_each_entry(buckets_, [&](BucketEntry& entry) {
    if (entry.slot == &slot && !entry.whole) {
      states_.complete(space());  // another optimizer may keep some of it
      entry.whole = true;
      borders_ = deal_out(buckets_, host_->size());
    }
  });
}

Tensor FlatOwnership::make_state(const nn::Slot& slot, const Shape& shape, const Tensor& values) {
  const BucketEntry& entry = entry_of(slot);
  return states_.make(space(), entry.alive, location_of(entry), shape, values);
}

/// Nobody reads old weights any more: all ranks have shared the norm.
void FlatOwnership::all_gather_parameters(const Tensor& updated) {
  if (host_->size() == 1) {
    return;
  }
  const FlatRange range = parameters_.range_of(updated, "data_parallel: a parameter");
  if (!peers_.empty()) {
    const auto values =
        std::as_bytes(std::span(updated.data<float>(), static_cast<std::size_t>(updated.numel())));
    copy_past_caches(values, peers_, static_cast<std::size_t>(range.first) * sizeof(float));
  }
}

void FlatOwnership::wait_for_parameters() {
  if (!peers_.empty()) {
    waits_.wait(barrier(*host_, "optimizer.step(): weights"));
  }
  for (int r = 0; peers_.empty() && r < host_->size(); ++r) {
    const Work work =
        broadcast_range(*host_, parameters_, part_of(r), r, "optimizer.step(): weights");
    if (work) {
      waits_.wait(work);
    }
  }
  watched_.accept_update();
}

void FlatOwnership::all_reduce_numbers(std::span<double> values) {
  waits_.wait(all_reduce<double>(*host_, values, ReduceOp::sum, "optimizer.step(): gradient norm"));
}

void FlatOwnership::begin_comparison(std::uint64_t fingerprint) {
  if (comm_->size() > 1) {
    step_.begin(*comm_, fingerprint, "optimizer.step(): what it does");
  }
}

void FlatOwnership::end_comparison(const std::function<nn::Facts()>& facts) {
  if (!step_.under_way()) {
    return;
  }
  waits_.wait(step_.work());
  const bool equal = step_.all_equal();
  step_.end();
  if (!equal) {
    require_agreement(*comm_, "optimizer", facts());
    fail<Disagreement>("optimizer: ranks differ in what they are about to do");
  }
}

std::vector<nn::SlotPtr> FlatOwnership::buffers() const {
  std::vector<nn::SlotPtr> alive;
  for (const std::weak_ptr<nn::Slot>& buffer : buffers_) {
    if (nn::SlotPtr slot = buffer.lock()) {
      alive.push_back(std::move(slot));
    }
  }
  return alive;
}

void FlatOwnership::all_reduce_bytes(std::span<std::uint8_t> bytes) {
  waits_.wait(all_reduce<std::uint8_t>(*comm_, bytes, ReduceOp::sum,
                                       "what the step's forwards assigned to buffers"));
}

}  // namespace tessera::dist
