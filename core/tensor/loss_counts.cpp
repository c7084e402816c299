#include <tessera/core/tensor/loss_counts.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include <tessera/core/base/tree.h>

namespace tessera {
namespace {

double tree_total(std::vector<double> values) {
  tree_sum(values, std::ssize(values), 1);
  return values[0];
}

}  // namespace

void attach_counts(const Tensor& loss, const char* name, const Tensor& counted,
                   std::int64_t elements, OverPass over) {
  if (loss.device().type == DeviceType::meta) {
    return;
  }
  check<InternalError>(counted.numel() == loss.numel() && counted.dtype() == DType::f64, name,
                       ": counts do not fit the loss; got ", counted.shape(), ", expected ",
                       loss.shape());
  loss.get().set_over(over);
  auto counts = make_ref<LossCounts>();
  counts->loss = name;
  counts->values = counted.detach();
  counts->elements = static_cast<double>(std::max<std::int64_t>(elements, 1));
  loss.get().set_counts(Ref<const LossCounts>(counts.get()));
}

const LossCounts* counts_of(const Tensor& x) {
  return x.get().counts().get();
}

std::vector<double> read_counts(const char* op, const LossCounts& counts) {
  check(counts.other == nullptr, op, ": losses that count different elements were combined; got ",
        counts.loss, " and ", counts.other, ", expected one of them: call ", op, " on each",
        std::string_view(op) == "backward"
            ? ", and give all but the last {.keep_graph = true} where they share a forward"
            : "");
  return counts.values.to_vector<double>();
}

double mean_by_counts(std::vector<double> means, std::vector<double> counts) {
  const bool alike = std::ranges::adjacent_find(counts, std::not_equal_to{}) == counts.end();
  if (alike) {
    const auto count = static_cast<double>(means.size());
    return tree_total(std::move(means)) / count;
  }
  for (std::size_t i = 0; i < means.size(); ++i) {
    means[i] *= counts[i];
  }
  return tree_total(std::move(means)) / tree_total(std::move(counts));
}

}  // namespace tessera
