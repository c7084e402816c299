#include <tessera/dist/parallel/loss_count_table.h>

#include <algorithm>
#include <bit>

#include <tessera/core/autograd/pass_tree.h>
#include <tessera/core/base/context.h>
#include <tessera/dist/comm/collectives.h>

namespace tessera::dist {

/// The number that rank 0 has, which has the first microbatch.
double LossCountTable::agreed(double elements) {
  const std::string label = "elements of a microbatch";
  if (comm_.rank() != 0) {
    receive(comm_, std::span(&elements, 1), 0, label).wait();
    return elements;
  }
  const auto kept = std::make_shared<const double>(elements);  // by the sends, however this ends
  std::vector<Work>& sent = told_[backward_in_pass()];
  for (int rank = 1; rank < comm_.size(); ++rank) {
    Collective c{.kind = CollectiveKind::send, .dtype = DType::f64, .count = 1, .label = label};
    c.send = Operand(kept.get(), sizeof elements, kept);
    c.peer = rank;
    sent.push_back(comm_.launch(std::move(c)));
  }
  return elements;
}

double LossCountTable::add(const PassCounts& counts) {
  const std::size_t number = backward_in_pass();
  const double elements = has_agreed() ? counts.elements : agreed(counts.elements);
  agreed_.insert(current_loss_key());
  Values& values = step_.try_emplace(number, none()).first->second;
  if (const Pass& pass = Context::current().pass; pass.grain == grain_) {  // or the reducer refuses
    std::ranges::copy(counts.values, values.begin() + pass.first);
  }
  values.back() = elements;
  return elements;
}

void LossCountTable::append_to(std::vector<std::int64_t>& table) const {
  const auto found = step_.find(backward_in_pass());
  for (const double value : found != step_.end() ? found->second : none()) {
    table.push_back(std::bit_cast<std::int64_t>(value));
  }
}

GradientScale LossCountTable::take_from(std::vector<std::int64_t>& tables) {
  // All ranks have come so far. What they were told of later losses waits for them.
  if (const auto told = told_.extract(backward_in_pass()); !told.empty()) {
    std::ranges::for_each(told.mapped(), [](const Work& work) { work.wait(); });
  }
  const auto own = static_cast<std::ptrdiff_t>(tables.size()) / comm_.size();
  Values all = none();
  const std::ptrdiff_t numbers = std::ssize(all);
  for (int rank = comm_.size() - 1; rank >= 0; --rank) {
    const auto end = tables.begin() + (rank + 1) * own;
    for (std::ptrdiff_t i = 0; i < numbers; ++i) {
      const auto value = std::bit_cast<double>(*(end - numbers + i));
      all[static_cast<std::size_t>(i)] = std::max(all[static_cast<std::size_t>(i)], value);
    }
    tables.erase(end - numbers, end);
  }
  step_.erase(backward_in_pass());
  const double elements = all.back();
  all.pop_back();
  const bool plain = std::ranges::all_of(all, [](double value) { return value == kPlainLoss; });
  latest_ = plain ? GradientScale{} : scale_of(std::move(all), elements);
  return latest_;
}

}  // namespace tessera::dist
