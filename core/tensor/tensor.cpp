#include <tessera/core/tensor/tensor.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <tessera/core/base/tree.h>
#include <tessera/core/device/backend.h>
#include <tessera/core/device/hazards.h>
#include <tessera/core/tensor/elements.h>
#include <tessera/core/tensor/loss_counts.h>
#include <tessera/core/tensor/transfer.h>
#include <tessera/core/tensor/view.h>

namespace tessera {

TensorImpl::TensorImpl(Ref<Storage> memory, const Shape& dims, DType element, Device where)
    : storage(std::move(memory)),
      shape(dims),
      strides(contiguous_strides(dims)),
      dtype(element),
      device(where) {}

TensorImpl::~TensorImpl() = default;

void TensorImpl::set_counts(Ref<const LossCounts> counts) noexcept {
  counts_ = std::move(counts);
  stages_.set(Stage::count, static_cast<bool>(counts_));
}

std::int64_t Tensor::size(int dim) const {
  check(ndim() > 0, "size: a tensor of no dims has no size ", dim);
  return shape()[normalize_dim("size", dim, ndim())];
}

std::size_t Tensor::nbytes() const {
  return static_cast<std::size_t>(numel()) * size_of(dtype());
}

bool Tensor::shares_storage(const Tensor& other) const {
  return get().storage == other.get().storage;
}

void* Tensor::raw_data() const {
  const TensorImpl& x = get();
  check<NotImplementedError>(static_cast<bool>(x.storage), "data: a meta tensor has no elements");
  check<Unsupported>(is_host_addressable(x.device), "data: the host does not reach the memory of ",
                     x.device, "; got a tensor there, expected what to_host(x) gives");
  wait_until_writable(*x.storage);
  return x.storage->data() + x.offset * static_cast<std::int64_t>(size_of(x.dtype));
}

namespace {

/// The batch's number from those of a pass's microbatches.
double over_pass(std::vector<double> numbers, OverPass over) {
  check<Unsupported>(
      over != OverPass::none, "item: got ", numbers.size(),
      " numbers, one for each microbatch of the pass, which are no means, sums, largest or least "
      "elements over samples, so that none of them, nor their mean, is the batch's; take item() of "
      "the sums and means that they are made of (`n += sum(hits).item()`, "
      "`std::sqrt(mean(d * d).item())`), weighted_mean() for a ratio of sums, to_vector() for "
      "each, "
      "or LoaderOptions::grain = 1");
  if (over == OverPass::sum) {
    tree_sum(numbers, std::ssize(numbers), 1);
    return numbers[0];
  }
  const auto worse = [](double a, double b) { return a < b || std::isnan(b); };
  return over == OverPass::largest ? *std::ranges::max_element(numbers, worse)
                                   : *std::ranges::min_element(numbers, [](double a, double b) {
                                       return a < b || std::isnan(a);
                                     });
}

}  // namespace

double Tensor::item_as_double() const {
  const TensorImpl& x = get();
  const std::int64_t values = x.microbatches().per_microbatch ? x.microbatches().count : 1;
  check(x.numel() == values, "item: wrong number of elements; got shape ", x.shape,
        ", expected one element");
  std::vector<double> numbers = to_vector<double>();
  if (x.microbatches().over != OverPass::mean && values > 1) {
    return over_pass(std::move(numbers), x.microbatches().over);
  }
  const LossCounts* counts = values > 1 ? counts_of(*this) : nullptr;
  return mean_by_counts(std::move(numbers),
                        counts != nullptr ? read_counts("item", *counts) : std::vector<double>());
}

bool Tensor::item_as_bool() const {
  return numel() == 1 ? to_vector<bool>()[0] : item_as_double() != 0;
}

std::int64_t Tensor::item_between(std::int64_t least, std::int64_t most) const {
  if (is_integral(dtype()) && numel() == 1) {
    const std::int64_t value = to_vector<std::int64_t>()[0];
    check(value >= least && value <= most, "item: the value does not fit; got ", value,
          ", expected one in [", least, ", ", most, "]");
    return value;
  }
  const double value = item_as_double();
  const double whole = std::trunc(value);
  const bool fits =  // as doubles: 1 more than the largest i64 is 2^63 then, too
      whole >= static_cast<double>(least) && whole < static_cast<double>(most) + 1;
  check(fits, "item: the value does not fit; got ", value, ", expected one in [", least, ", ", most,
        "]");
  return static_cast<std::int64_t>(whole);
}

template <class T>
std::vector<T> Tensor::to_vector() const {
  const Tensor host = to_host(*this);
  const TensorImpl& x = host.get();
  std::vector<T> values;
  values.reserve(static_cast<std::size_t>(x.numel()));
  for_each_element(x, [&](std::int64_t at) { values.push_back(load_as<T>(x, at)); });
  return values;
}
template std::vector<bool> Tensor::to_vector() const;
template std::vector<float> Tensor::to_vector() const;
template std::vector<double> Tensor::to_vector() const;
template std::vector<std::int32_t> Tensor::to_vector() const;
template std::vector<std::int64_t> Tensor::to_vector() const;
template std::vector<std::complex<double>> Tensor::to_vector() const;

bool Tensor::requires_grad() const noexcept {
  return defined() && is_on_tape(*impl_);
}

Tensor Tensor::detach() const {
  const TensorImpl& x = get();
  auto copy = make_ref<TensorImpl>(x.storage, x.shape, x.dtype, x.device);
  copy->strides = x.strides;
  copy->offset = x.offset;
  copy->set_microbatches(x.microbatches());
  copy->inference = x.inference;
  if (x.counts()) [[unlikely]] {
    copy->set_counts(x.counts());
  }
  return Tensor(std::move(copy));
}

std::uint32_t Tensor::version() const {
  const TensorImpl& x = get();
  return x.storage ? x.storage->version() : 0;
}

}  // namespace tessera
