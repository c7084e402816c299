#include <tessera/nn/buffer_step.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <vector>

#include <tessera/core/base/log.h>
#include <tessera/core/base/random_scope.h>
#include <tessera/core/base/tree.h>
#include <tessera/core/device/hazards.h>
#include <tessera/core/device/memory_stats.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/transfer.h>
#include <tessera/nn/behind_step.h>
#include <tessera/nn/functional/random_key.h>
#include <tessera/nn/ownership.h>

namespace tessera::nn {
namespace {

/// Buffers that this thread assigned to in the step.
std::vector<std::weak_ptr<Slot>>& open_slots() {
  thread_local std::vector<std::weak_ptr<Slot>> slots;
  return slots;
}

/// One step's values of one buffer, by microbatch.
struct Table {
  SlotPtr slot;
  std::vector<std::uint8_t> values;
  std::vector<std::uint8_t> assigned;
};

std::vector<std::weak_ptr<Ownership>>& keepers_of_buffers() {
  thread_local std::vector<std::weak_ptr<Ownership>> keepers;
  return keepers;
}

/// What is to become the buffer's value with a step of optimizer `by`.
Table table_of(const SlotPtr& slot, const void* by) {
  const auto grain = static_cast<std::size_t>(Context::current().pass.grain);
  Table table{slot, std::vector<std::uint8_t>(grain * slot->value.nbytes()),
              std::vector<std::uint8_t>(grain)};
  if (slot->step != nullptr && slot->step->ends_with(by)) {
    slot->step->take(*slot, table.values, table.assigned);
  }
  return table;
}

/// Which microbatches share a pass decides who assigns where some passes do and others do not.
void check_all_assigned(const Table& table) {
  const auto without = std::ranges::find(table.assigned, 0);
  check<RuntimeError>(without == table.assigned.end(), "assign: ", table.slot->name,
                      " is assigned in some passes of a training step and not in the others; got "
                      "no value of microbatch ",
                      without - table.assigned.begin(), " of ", table.assigned.size(),
                      ", expected one of each: assign it in every pass, or once a step, in "
                      "`if (optimizer.step().ended)`");
}

template <class T>
void store_mean(const Table& table, T* out) {
  using Sum = std::conditional_t<sizeof(T) == 2, float, T>;
  const auto microbatch_count = static_cast<std::int64_t>(table.assigned.size());
  const auto* values = reinterpret_cast<const T*>(table.values.data());
  const std::int64_t count = table.slot->value.numel();
  std::vector<Sum> sums(static_cast<std::size_t>(microbatch_count * count));
  std::transform(values, values + microbatch_count * count, sums.begin(),
                 [](T x) { return static_cast<Sum>(x); });
  tree_sum(sums, microbatch_count, count);
  const auto divisor = static_cast<Sum>(static_cast<float>(microbatch_count));  // a power of two
  for (std::int64_t i = 0; i < count; ++i) {
    out[i] = static_cast<T>(sums[static_cast<std::size_t>(i)] / divisor);
  }
}

void check_agree(const Slot& slot, const std::uint8_t* values, std::size_t nbytes,
                 std::size_t microbatch_count) {
  for (std::size_t m = 1; m < microbatch_count; ++m) {
    check(std::memcmp(values, values + m * nbytes, nbytes) == 0,
          "assign: the microbatches of a step must agree on ", slot.name, ", which holds ",
          slot.dtype, "; got another value in microbatch ", m, " than in 0");
  }
}

void store_agreed(const Table& table, void* out) {
  const std::size_t nbytes = table.slot->value.nbytes();
  check_agree(*table.slot, table.values.data(), nbytes, table.assigned.size());
  std::memcpy(out, table.values.data(), nbytes);
}

Tensor result_of(const Table& table) {
  check_all_assigned(table);
  const CategoryScope category(MemoryCategory::parameter);
  const Tensor result = empty(table.slot->shape, {.dtype = table.slot->value.dtype()});
  visit_dtype(result.dtype(), [&]<class T>() {
    if constexpr (std::is_integral_v<T>) {
      store_agreed(table, result.raw_data());
    } else {
      store_mean<T>(table, result.data<T>());
    }
  });
  return on_device(result, table.slot->value.device());
}

/// What buffers are to become: all of it is known before the first one changes.
using Results = std::vector<std::pair<SlotPtr, Tensor>>;

/// Where this process is one of several that train together, it has seen a part of the samples.
void check_kept_equal(const Slot& slot) {
  const Context& context = Context::current();
  check<RuntimeError>(
      context.world_size == 1, "optimizer: rank ", context.rank, " of ", context.world_size,
      " would assign ", slot.name,
      " by its own samples alone, and ranks would keep different values; call dist::data_parallel "
      "on its model, call model->eval(), or start the world with WorldOptions{.independent = "
      "true}");
}

bool any_assigned(const Table& table) {
  return std::ranges::any_of(table.assigned, [](std::uint8_t x) { return x != 0; });
}

bool has_open(const Ownership& ownership) {
  return std::ranges::any_of(ownership.buffers(), [](const SlotPtr& slot) {
    return slot->step != nullptr && slot->step->open();
  });
}

/// Adds what `ownership` keeps equal to `results`.
void end_step(Ownership& ownership, const void* by, Results& results) {
  std::vector<Table> tables;
  std::vector<std::uint8_t> assigned;
  for (const SlotPtr& slot : ownership.buffers()) {
    tables.push_back(table_of(slot, by));
    assigned.insert(assigned.end(), tables.back().assigned.begin(), tables.back().assigned.end());
  }
  if (tables.empty()) {
    return;
  }
  ownership.all_reduce_bytes(assigned);
  auto flags = assigned.begin();
  for (Table& table : tables) {
    const auto grain = static_cast<std::ptrdiff_t>(table.assigned.size());
    std::copy_n(flags, grain, table.assigned.begin());
    flags += grain;
    if (any_assigned(table)) {
      ownership.all_reduce_bytes(table.values);
      results.emplace_back(table.slot, result_of(table));
    }
  }
}

}  // namespace

bool in_step_of_several() {
  const Pass& pass = Context::current().pass;
  return pass.training && pass.samples > 0 && pass.grain > 1;
}

void BufferStep::assign(const Slot& slot, const Tensor& value) {
  const Context& context = Context::current();
  check_assigned(slot, value);
  if (slot.value.get().storage) {
    wait_until_readable(*slot.value.get().storage);  // throws where the end was put off
  }
  // Calls with keys of their own have contexts of their own.
  if (passes_.enter(training_step(), nullptr) == PassSequence::Entered::first) {
    forget(slot);
  }
  Tensor own = kept_copy(value.detach(), slot.value.dtype());
  values_[context.pass.first] = {context.pass.count, own.detach(), context.pass_mark};
}

/// What is left is of a step whose loop was left.
void BufferStep::forget(const Slot& slot) {
  if (!values_.empty()) {
    log_once("buffers of a step", LogLevel::warning, "assign: what a training step assigned to ",
             slot.name, " is dropped: its loop was left before the step had ended");
  }
  values_.clear();
  put_off_by_.clear();
}

/// Whether the current pass has assigned.
bool BufferStep::assigned() const {
  const Context& context = Context::current();
  const auto found = values_.find(context.pass.first);
  return found != values_.end() && passes_.step() == training_step() &&
         found->second.pass.lock() == context.pass_mark;
}

std::optional<Tensor> BufferStep::own() const {
  const Context& context = Context::current();
  const auto put_off = put_off_in_.lock();
  const bool mine = assigned() && in_step_of_several() && !ParameterHookScope::alive();
  return mine && (put_off == nullptr || put_off != context.pass_mark)
             ? std::optional(values_.at(context.pass.first).value)
             : std::nullopt;
}

void BufferStep::put_off(Slot& slot, const void* by) {
  const Context& context = Context::current();
  if (!assigned() || put_off_in_.lock() == context.pass_mark) {
    return;
  }
  put_off_in_ = context.pass_mark;
  put_off_by_.push_back(by);
  slot.put_off_update();
}

bool BufferStep::ends_with(const void* by) const {
  const bool put_off = std::ranges::find(put_off_by_, by) != put_off_by_.end();
  return assigned() || (passes_.step() == training_step() && (put_off || by == nullptr) && open());
}

void BufferStep::take(const Slot& slot, std::span<std::uint8_t> values,
                      std::span<std::uint8_t> assigned) const {
  const std::size_t nbytes = slot.value.nbytes();
  for (const auto& [first, pass] : values_) {
    const Tensor dense = to_host(contiguous(pass.value));
    const auto* bytes = static_cast<const std::uint8_t*>(dense.raw_data());
    for (std::int64_t m = 0; m < pass.count; ++m) {
      const auto at = static_cast<std::size_t>(first + m);
      const std::size_t from = pass.value.microbatches() ? static_cast<std::size_t>(m) * nbytes : 0;
      std::memcpy(values.data() + at * nbytes, bytes + from, nbytes);
      assigned[at] = 1;
    }
  }
}

void BufferStep::end() {
  values_.clear();
  put_off_by_.clear();
}

Tensor mean_of_pass(const Slot& slot, const Tensor& value) {
  if (!value.microbatches().per_microbatch) {
    return value;
  }
  const auto microbatch_count = value.microbatches().count;
  if (!is_differentiable(value.dtype())) {
    const Tensor dense = contiguous(value);
    check_agree(slot, static_cast<const std::uint8_t*>(to_host(dense).raw_data()),
                dense.nbytes() / static_cast<std::size_t>(microbatch_count),
                static_cast<std::size_t>(microbatch_count));
    return unbind_microbatches(dense)[0];
  }
  const bool narrow = size_of(value.dtype()) == 2;
  const Tensor wide = narrow ? cast(value, DType::f32) : value;
  return cast(sum_microbatches(wide) / static_cast<double>(microbatch_count), value.dtype());
}

namespace {

/// A batch in one piece would assign another value.
void say_no_mean(const Slot& slot, const Tensor& value) {
  const MicrobatchLayout& layout = value.microbatches();
  const bool says = Context::current().rank == 0 && is_differentiable(value.dtype());
  if (says && layout.per_microbatch && layout.over != OverPass::mean) {
    log_once("no mean in " + slot.name, LogLevel::warning, "assign: ", slot.name,
             " is assigned what is no mean over samples (a sum, say): it becomes the mean of what "
             "the step's microbatches assign, where the batch in one piece has another value");
  }
}

}  // namespace

void write_in_step(const SlotPtr& slot, const Tensor& value) {
  if (slot->step == nullptr) {
    slot->step = std::make_shared<BufferStep>();
  }
  if (assign_behind_step(*slot, value)) {
    return;
  }
  say_no_mean(*slot, value);
  const bool listed = slot->step->open();
  slot->step->assign(*slot, value);
  if (!listed) {
    open_slots().push_back(slot);
  }
}

void add_keeper_of_buffers(const std::shared_ptr<Ownership>& ownership) {
  auto& keepers = keepers_of_buffers();
  std::erase_if(keepers, [](const auto& keeper) { return keeper.expired(); });
  if (std::ranges::none_of(keepers, [&](const auto& k) { return k.lock() == ownership; })) {
    keepers.push_back(ownership);
  }
}

void end_step_of_buffers(const void* by) {
  if (!in_step_of_several()) {
    return;
  }
  Results results;
  for (const std::weak_ptr<Ownership>& keeper : keepers_of_buffers()) {
    const auto ownership = keeper.lock();
    if (ownership != nullptr && (by != nullptr || has_open(*ownership))) {
      end_step(*ownership, by, results);
    }
  }
  for (const std::weak_ptr<Slot>& open : open_slots()) {
    if (const SlotPtr slot = open.lock(); slot != nullptr && slot->ownership == nullptr) {
      check_kept_equal(*slot);
      if (const Table table = table_of(slot, by); any_assigned(table)) {
        results.emplace_back(slot, result_of(table));
      }
    }
  }
  for (auto& [slot, result] : results) {
    slot->put(std::move(result));
    if (slot->step != nullptr) {
      slot->step->end();
    }
  }
  if (by != nullptr) {
    note_optimizer_step(true);
  }
  std::erase_if(open_slots(), [](const std::weak_ptr<Slot>& open) {
    const SlotPtr slot = open.lock();
    return slot == nullptr || slot->step == nullptr || !slot->step->open();
  });
}

void end_loop_of_buffers() {
  if (!step_has_ended()) {
    return;
  }
  const Facts assigned = assigned_behind_step();
  for (const std::weak_ptr<Ownership>& keeper : keepers_of_buffers()) {
    if (const auto ownership = keeper.lock()) {
      ownership->begin_comparison(hash_of_assigned(assigned));
      ownership->end_comparison([&] { return assigned; });
    }
  }
  forget_assigned_behind_step();
}

void put_off_end_of_buffers(const void* by) {
  if (!in_step_of_several()) {
    return;
  }
  note_optimizer_step(false);
  for (const std::weak_ptr<Slot>& open : open_slots()) {
    if (const SlotPtr slot = open.lock(); slot != nullptr && slot->step != nullptr) {
      slot->step->put_off(*slot, by);
    }
  }
}

}  // namespace tessera::nn
