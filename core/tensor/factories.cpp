#include <tessera/core/tensor/factories.h>

#include <algorithm>
#include <cmath>

#include <tessera/core/base/context.h>
#include <tessera/core/base/normal.h>
#include <tessera/core/base/philox.h>
#include <tessera/core/base/random_scope.h>
#include <tessera/core/device/backend.h>
#include <tessera/core/tensor/elements.h>
#include <tessera/core/tensor/factory_draws.h>
#include <tessera/core/tensor/half_open.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/core/tensor/transfer.h>

namespace tessera {
namespace {

template <class F>
Tensor generate(const Shape& shape, const TensorOptions& options, F&& value_at) {
  Tensor result = empty(shape, {.dtype = options.dtype, .device = options.device});
  const bool on_host = is_host_addressable(options.device);
  if (options.device.type != DeviceType::meta) {
    const Tensor made = on_host ? result : empty(shape, {.dtype = options.dtype});
    TensorImpl& x = made.get();
    visit_dtype(x.dtype, [&]<class T>() {
      T* data = x.data<T>();
      for (std::int64_t i = 0; i < x.numel(); ++i) {
        data[i] = convert<T>(value_at(i));
      }
    });
    if (!on_host) {
      transfer(result, made);
    }
  }
  return result.set_requires_grad(options.requires_grad);
}

template <class T>
void check_leads_to_end(bool leads, T start, T end, T step) {
  check(leads, "arange: the step leads away from the end; got start ", start, ", end ", end,
        " and step ", step, ", expected a step towards the end");
}

Tensor arange_reals(double start, double end, double step, const TensorOptions& options) {
  check_leads_to_end(step != 0 && (end - start) / step >= 0, start, end, step);
  const double count = std::ceil((end - start) / step);
  check(count < 0x1p63, "arange: too many elements; got ", count, " from start ", start, " to end ",
        end, " by step ", step, ", expected fewer than 2^63");
  return generate({static_cast<std::int64_t>(count)}, options,
                  [=](std::int64_t i) { return start + static_cast<double>(i) * step; });
}

/// Unsigned arithmetic: a distance may need 64 bits beside its sign.
Tensor arange_integers(std::int64_t start, std::int64_t end, std::int64_t step,
                       const TensorOptions& options) {
  check_leads_to_end(step > 0 ? start <= end : step < 0 && start >= end, start, end, step);
  const auto first = static_cast<std::uint64_t>(start), last = static_cast<std::uint64_t>(end);
  const auto by = static_cast<std::uint64_t>(step);
  const std::uint64_t distance = step > 0 ? last - first : first - last;
  const std::uint64_t stride = step > 0 ? by : 0 - by;
  const std::uint64_t n = distance / stride + (distance % stride != 0 ? 1 : 0);
  return generate({static_cast<std::int64_t>(n)}, options, [=](std::int64_t i) {
    return static_cast<std::int64_t>(first + static_cast<std::uint64_t>(i) * by);
  });
}

/// Ranks and passes would draw the same numbers for different samples.
void check_one_draw_for_all(const char* name, const TensorOptions& options) {
  const Pass& pass = Context::current().pass;
  const bool drawn = options.device.type != DeviceType::meta;
  const bool equal = StepDraws::alive();  // and meant to be
  check<Unsupported>(!drawn || equal || pass.samples == 0 || pass.grain == 1, name,
                     ": draws the same numbers for different samples; got a step of ", pass.grain,
                     " microbatches, expected ", name,
                     "_like(x), which draws for each sample of x, "
                     "numbers drawn before the loop or in a StepDraws, or the loader's .grain = 1");
}

/// The numbers of a tensor of `shape`. What cannot be made takes none.
RandomStream next_draw(const char* name, const Shape& shape, const TensorOptions& options) {
  check_one_draw_for_all(name, options);
  TensorOptions without_data = options;
  without_data.device = Device{DeviceType::meta};
  static_cast<void>(empty(shape, without_data));
  if (StepDraws::alive()) {
    return {.key = next_random_key()};
  }
  return {.key = mix(Context::current().seed, hash_name("factories")),
          .high = FactoryDraws::next()};
}

Tensor with_samples_of(const Tensor& x, Tensor result) {
  if (const MicrobatchLayout& layout = x.microbatches(); layout) {
    const bool fits =
        layout.dim < result.ndim() && result.shape()[layout.dim] == x.shape()[layout.dim];
    check(fits, "empty_like: the samples do not fit; got shape ", result.shape(), ", expected ",
          x.shape()[layout.dim], " along dim ", int{layout.dim}, ", in which shape ", x.shape(),
          " holds its samples");
    result.get().set_microbatches(layout);
    result.get().set_over(OverPass::mean);  // it is the same for all microbatches
  }
  return result;
}

}  // namespace

Tensor empty(const Shape& shape, const TensorOptions& options) {
  for (const std::int64_t size : shape) {
    check(size >= 0, "empty: negative size; got ", shape, ", expected sizes of at least 0");
  }
  const std::size_t nbytes = nbytes_of("empty", shape, size_of(options.dtype));
  Ref<Storage> storage;
  if (options.device.type != DeviceType::meta) {
    storage = make_ref<Storage>(nbytes, options.device);
  } else {
    check_available(options.device);
  }
  auto impl = make_ref<TensorImpl>(std::move(storage), shape, options.dtype, options.device);
  impl->inference = Modes::current().inference;
  Tensor result(std::move(impl));
  return options.requires_grad ? result.set_requires_grad(true) : result;
}

Tensor zeros(const Shape& shape, const TensorOptions& options) {
  if (options.device.is_cpu() || options.device.type == DeviceType::meta) {
    return full(shape, 0, options);
  }
  Tensor result = empty(shape, {.dtype = options.dtype, .device = options.device});
  set_to_zero(result);
  return result.set_requires_grad(options.requires_grad);
}

Tensor ones(const Shape& shape, const TensorOptions& options) {
  return full(shape, 1, options);
}

Tensor full(const Shape& shape, Number value, const TensorOptions& options) {
  value.check_fits(options.dtype, "full");
  return value.visit(
      [&](auto x) { return generate(shape, options, [x](std::int64_t) { return x; }); });
}

Tensor scalar(std::complex<double> value, DType dtype) {
  Number(value).check_fits(dtype, "scalar");
  return generate({}, {.dtype = dtype}, [value](std::int64_t) { return value; });
}

Tensor arange(std::int64_t n, const TensorOptions& options) {
  return generate({n}, options, [](std::int64_t i) { return i; });
}

Tensor arange(Number start, Number end, Number step, const TensorOptions& options) {
  const bool integers = start.is_integer() && end.is_integer() && step.is_integer();
  return integers ? arange_integers(start.integer(), end.integer(), step.integer(), options)
                  : arange_reals(start.real(), end.real(), step.real(), options);
}

Tensor eye(std::int64_t n, const TensorOptions& options) {
  return generate({n, n}, options, [n](std::int64_t i) { return i / n == i % n ? 1.0 : 0.0; });
}

Tensor from_memory(void* data, const Shape& shape, DType dtype, std::shared_ptr<const void> owner) {
  const std::size_t nbytes = nbytes_of("from_memory", shape, size_of(dtype));
  auto storage =
      make_ref<Storage>(static_cast<std::byte*>(data), nbytes, Device{}, std::move(owner));
  return Tensor(make_ref<TensorImpl>(std::move(storage), shape, dtype, Device{}));
}

Tensor rand(const Shape& shape, const TensorOptions& options) {
  const RandomStream stream = next_draw("rand", shape, options);
  const auto most = static_cast<float>(largest_below(1, real_of(options.dtype)));
  return generate(shape, options, [&](std::int64_t i) {
    return std::min(to_uniform(stream.word(static_cast<std::uint64_t>(i))), most);
  });
}

Tensor randn(const Shape& shape, const TensorOptions& options) {
  const RandomStream stream = next_draw("randn", shape, options);
  return generate(shape, options, [&](std::int64_t i) {
    return to_normal(stream.block(static_cast<std::uint64_t>(i)));
  });
}

Tensor empty_like(const Tensor& x) {
  return empty_like(x, x.shape());
}
Tensor zeros_like(const Tensor& x) {
  return full_like(x, 0);
}
Tensor ones_like(const Tensor& x) {
  return full_like(x, 1);
}
Tensor full_like(const Tensor& x, Number value) {
  return full_like(x, x.shape(), value);
}

Tensor empty_like(const Tensor& x, const Shape& shape) {
  return with_samples_of(x, empty(shape, {.dtype = x.dtype(), .device = x.device()}));
}
Tensor zeros_like(const Tensor& x, const Shape& shape) {
  return full_like(x, shape, 0);
}
Tensor ones_like(const Tensor& x, const Shape& shape) {
  return full_like(x, shape, 1);
}
Tensor full_like(const Tensor& x, const Shape& shape, Number value) {
  return with_samples_of(x, full(shape, value, {.dtype = x.dtype(), .device = x.device()}));
}

}  // namespace tessera
