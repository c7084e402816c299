#include "support/op_tools.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include <tessera/core/base/philox.h>
#include <tessera/core/tensor/elements.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>

namespace tessera::test {
namespace {

using Complex = std::complex<double>;

/// A random number in [0, 1) for element `i` of input `stream`.
double uniform(std::uint64_t stream, std::int64_t i) {
  return to_uniform(RandomStream{.key = 7, .high = stream}.word(static_cast<std::uint64_t>(i)));
}

double real_value(const InputSpec& spec, std::uint64_t stream, std::int64_t i) {
  const std::int64_t n = numel_of(spec.shape);
  if (spec.distinct) {
    return static_cast<double>((i * 7919 + 3) % n - n / 2) / 16;
  }
  double value = spec.low + uniform(stream, i) * (spec.high - spec.low);
  value = std::round(value * 64) / 64;
  return std::abs(value) < spec.gap ? spec.gap * (value < 0 ? -1 : 1) : value;
}

Complex value_of(const InputSpec& spec, DType dtype, std::uint64_t stream, std::int64_t i) {
  if (!spec.values.empty()) {
    return spec.values[static_cast<std::size_t>(i)];
  }
  if (spec.kind == InputSpec::Kind::integer) {
    return std::floor(spec.low + uniform(stream, i) * (spec.high - spec.low));
  }
  const double x = real_value(spec, stream, i);
  if (is_complex(dtype)) {
    return {x, real_value(spec, stream + 100, i)};
  }
  if (dtype == DType::boolean) {
    return x > 0;
  }
  if (is_integral(
          dtype)) {  // never 0 where the case stays away from it, never negative if unsigned
    const double whole = spec.gap > 0 ? std::copysign(std::ceil(std::abs(x)), x) : std::round(x);
    return dtype == DType::u8 ? std::abs(whole) : whole;
  }
  return x;
}

Tensor make_input(const InputSpec& spec, std::optional<DType> swept, std::uint64_t stream) {
  if (spec.kind == InputSpec::Kind::absent || spec.kind == InputSpec::Kind::derived) {
    return {};
  }
  const DType dtype = swept && spec.sweeps ? *swept : spec.dtype;
  Tensor x = empty(spec.shape, {.dtype = dtype});
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    store_as(x.get(), i, value_of(spec, dtype, stream, i));
  }
  x.get().set_microbatches(spec.microbatches);
  return x;
}

std::vector<TensorRef> refs(const std::vector<Tensor>& inputs) {
  return {inputs.begin(), inputs.end()};
}

double ulp_of(DType dtype, double at) {
  static constexpr double kF16 = 0x1p-10;
  static constexpr double kBf16 = 0x1p-7;
  static constexpr double kF32 = 0x1p-23;
  const DType part = real_of(dtype);
  const double relative = part == DType::f16    ? kF16
                          : part == DType::bf16 ? kBf16
                          : part == DType::f32  ? kF32
                                                : 0x1p-52;
  return relative * std::max(std::abs(at), part == DType::f16 ? 0x1p-14 : 0x1p-126);
}

bool agree(Complex a, Complex e, DType dtype, double slack, double ulps) {
  if (dtype == DType::boolean) {
    return (a != 0.0) == (e != 0.0);
  }
  if (is_integral(dtype)) {
    const bool fits = std::abs(e.real()) < 127 && (dtype != DType::u8 || e.real() >= 0);
    return !fits || a.real() == std::trunc(e.real());
  }
  const auto near = [&](double x, double y) {
    return x == y || (std::isnan(x) && std::isnan(y)) ||
           std::abs(x - y) <= ulps * ulp_of(dtype, y) + slack;
  };
  if (!is_complex(dtype)) {
    return near(a.real(), e.real());
  }
  const double size = std::abs(e);
  return std::abs(a - e) <= ulps * ulp_of(dtype, size) + slack;
}

}  // namespace

std::vector<Tensor> make_inputs(const SampleData& sample, std::optional<DType> dtype) {
  std::vector<Tensor> inputs;
  for (const InputSpec& spec : sample.inputs) {
    inputs.push_back(make_input(spec, dtype, inputs.size()));
  }
  derive_inputs(sample, inputs);
  return inputs;
}

void derive_inputs(const SampleData& sample, std::vector<Tensor>& inputs) {
  const NoGradGuard no_grad;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (sample.inputs[i].derive) {
      inputs[i] = sample.inputs[i].derive(inputs);
    }
  }
}

Outputs run_op(const OpDef& op, const std::vector<Tensor>& inputs, const void* attrs) {
  Outputs outputs;
  call(op, refs(inputs), attrs, outputs);
  return outputs;
}

void expect_names_both_halves(const OpDef& op, const std::string& text, const std::string& what) {
  const std::size_t got = text.find("; got ");
  const bool both = got != std::string::npos && text.find(", expected ", got) != std::string::npos;
  EXPECT_TRUE(text.starts_with(std::string(op.info.name) + ": ") && both) << what << ": " << text;
}

std::optional<Outputs> run_kernel(const OpDef& op, OpDef::KernelFunction kernel,
                                  const std::vector<Tensor>& inputs, const void* attrs) {
  const std::vector<TensorRef> in = refs(inputs);
  Infer infer(op.info.name, in);
  op.infer(infer, attrs);
  Outputs outputs;
  std::vector<TensorImpl*> from;
  std::vector<TensorImpl*> to;
  for (const OutputSpec& spec : infer.outputs()) {
    outputs.push_back(empty(spec.shape, {.dtype = spec.dtype}));
  }
  for (const Tensor& y : outputs) {
    to.push_back(&y.get());
  }
  for (const Tensor& x : inputs) {
    from.push_back(x.impl().get());
  }
  Kernel k(op.info.name, from, to);
  return kernel(k, attrs) ? std::optional(outputs) : std::nullopt;
}

Outputs run_reference(const OpDef& op, const std::vector<Tensor>& inputs, const void* attrs) {
  thread_local const OpDef* current = nullptr;
  current = &op;
  return *run_kernel(
      op,
      [](Kernel& k, const void* a) {
        current->reference(k, a);
        return true;
      },
      inputs, attrs);
}

ShardRule shard_rule_of(const OpDef& op, const std::vector<Tensor>& inputs, const void* attrs) {
  const std::vector<TensorRef> in = refs(inputs);
  Infer infer(op.info.name, in);
  op.infer(infer, attrs);
  return op.shard(infer, attrs);
}

Tensor strided_copy(const Tensor& x) {
  if (!x.defined() || x.ndim() == 0) {
    return x;
  }
  Strides strides = x.strides();
  std::int64_t step = 2;
  for (int d = 0; d < x.ndim(); ++d) {
    strides[d] = step;
    step *= std::max<std::int64_t>(x.shape()[d], 1);
  }
  const Tensor room = zeros({step + 3}, {.dtype = x.dtype()});
  auto impl = make_ref<TensorImpl>(room.get().storage, x.shape(), x.dtype(), x.device());
  impl->strides = strides;
  impl->offset = 3;
  impl->set_microbatches(x.microbatches());
  const TensorImpl& from = x.get();
  StridedCounter<2> at(from.shape, {from.strides, strides});
  for (std::int64_t n = from.numel(); n > 0; --n, at.next()) {
    store_as(*impl, at.offsets[1], load_as<Complex>(from, at.offsets[0]));
  }
  return Tensor(std::move(impl));
}

Tensor box_of(const Tensor& x, const Box& box) {
  auto impl = make_ref<TensorImpl>(x.get().storage, box.shape, x.dtype(), x.device());
  impl->strides = x.strides();
  impl->offset = x.get().offset;
  for (int d = 0; d < box.offset.size(); ++d) {
    impl->offset += box.offset[d] * x.strides()[d];
  }
  return Tensor(std::move(impl));
}

std::shared_ptr<const void> localised(const OpDef& op, const void* attrs, const Box& output) {
  const AttrsType& type = *op.attrs;
  std::shared_ptr<void> piece(::operator new(type.size), [&type](void* made) {
    type.destroy(made);
    ::operator delete(made);
  });
  type.copy(piece.get(), attrs);
  if (op.localise != nullptr) {
    op.localise(piece.get(), output);
  }
  return piece;
}

Tensor piece_of(const Tensor& x, int dim, int index, int pieces) {
  Shape shape = x.shape();
  shape[dim] = pieces == 0 ? 0 : shape[dim] / pieces;
  auto impl = make_ref<TensorImpl>(x.get().storage, shape, x.dtype(), x.device());
  impl->strides = x.strides();
  impl->offset = x.get().offset + index * shape[dim] * x.strides()[dim];
  return Tensor(std::move(impl));
}

Tensor converted(const Tensor& x, DType dtype) {
  if (!x.defined()) {
    return x;
  }
  Tensor y = empty(x.shape(), {.dtype = dtype});
  y.get().set_microbatches(x.microbatches());
  std::int64_t next = 0;
  for_each_element(
      x.get(), [&](std::int64_t at) { store_as(y.get(), next++, load_as<Complex>(x.get(), at)); });
  return y;
}

void expect_near(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance,
                 const std::string& what) {
  ASSERT_EQ(actual.shape(), expected.shape()) << what;
  const auto a = actual.to_vector<Complex>();
  const auto e = expected.to_vector<Complex>();
  double largest = 0;
  for (const Complex& value : e) {
    largest = std::isfinite(std::abs(value)) ? std::max(largest, std::abs(value)) : largest;
  }
  const double slack = tolerance.of_largest * ulp_of(actual.dtype(), largest);
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_TRUE(agree(a[i], e[i], actual.dtype(), slack, tolerance.ulps))
        << what << ": element " << i << " is " << a[i] << ", expected " << e[i];
  }
}

void expect_same_bits(const Tensor& actual, const Tensor& expected, const std::string& what) {
  ASSERT_EQ(actual.shape(), expected.shape()) << what;
  ASSERT_EQ(actual.dtype(), expected.dtype()) << what;
  const Tensor a = converted(actual, actual.dtype());
  const Tensor e = converted(expected, expected.dtype());
  if (a.numel() > 0) {
    EXPECT_EQ(std::memcmp(a.raw_data(), e.raw_data(), a.nbytes()), 0)
        << what << ": bits differ; got " << ::testing::PrintToString(a.to_vector<double>())
        << ", expected " << ::testing::PrintToString(e.to_vector<double>());
  }
}

}  // namespace tessera::test
