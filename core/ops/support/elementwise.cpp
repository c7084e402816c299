#include <tessera/core/ops/support/elementwise.h>

#include <optional>

namespace tessera {
namespace {

int category(DType t) {
  if (is_complex(t)) {
    return 3;
  }
  if (is_floating(t)) {
    return 2;
  }
  return t == DType::boolean ? 0 : 1;
}

/// Kinds of inputs, whose dtypes are promoted among themselves first.
enum class InputKind { with_dims, zero_dim, numbers };

InputKind kind_of(const TensorImpl& x) {
  if (x.shape.size() >
      (x.microbatches().per_microbatch ? 1 : 0)) {  // one number a microbatch has no dims
    return InputKind::with_dims;
  }
  return x.number ? InputKind::numbers : InputKind::zero_dim;
}

/// A number has no width of its own: it takes the default one of its category.
DType default_width(DType t) {
  if (is_complex(t)) {
    return DType::c64;
  }
  return is_floating(t) ? DType::f32 : t;
}

const TensorImpl& input_of(const Infer& c, int i) {
  return c.input(i).get();
}
const TensorImpl& input_of(const Kernel& k, int i) {
  return k.input(i);
}

/// The promotion of one kind; nothing where no input is of it.
template <class Call>
std::optional<DType> promote_kind(const Call& call, InputKind kind) {
  std::optional<DType> result;
  for (int i = 0; i < call.input_count(); ++i) {
    if (call.has_input(i) && kind_of(input_of(call, i)) == kind) {
      const DType dtype = input_of(call, i).dtype;
      result = result ? promote(*result, dtype) : dtype;
    }
  }
  return result && kind == InputKind::numbers ? default_width(*result) : result;
}

/// `high`, unless the kind of lower rank is of a higher category.
std::optional<DType> join_kinds(std::optional<DType> high, std::optional<DType> low) {
  if (!high || !low) {
    return high ? high : low;
  }
  if (category(*low) <= category(*high)) {
    return high;
  }
  if (is_complex(*low) && is_floating(*high)) {
    return *high == DType::f64 ? DType::c128 : DType::c64;
  }
  return promote(*high, *low);
}

/// True when promotion has nothing to decide: tensors with dims, all of one dtype.
template <class Call>
bool is_uniform(const Call& call) {
  const DType dtype = input_of(call, 0).dtype;
  for (int i = 0; i < call.input_count(); ++i) {
    const bool same =
        call.has_input(i) && !input_of(call, i).shape.empty() && input_of(call, i).dtype == dtype;
    if (!same) {
      return false;
    }
  }
  return true;
}

template <class Call>
DType promote_inputs(const Call& call) {
  if (is_uniform(call)) [[likely]] {
    return input_of(call, 0).dtype;
  }
  const auto dims = promote_kind(call, InputKind::with_dims);
  const auto zero_dim = promote_kind(call, InputKind::zero_dim);
  return *join_kinds(dims, join_kinds(zero_dim, promote_kind(call, InputKind::numbers)));
}

}  // namespace

DType promoted_dtype(const Infer& c) {
  return promote_inputs(c);
}

DType promoted_dtype(const Kernel& k) {
  return promote_inputs(k);
}

DType promoted_float_dtype(const Infer& c) {
  const DType dtype = promoted_dtype(c);
  return is_differentiable(dtype) ? dtype : DType::f32;
}

namespace {

/// A 0-d tensor on the CPU goes with tensors of any device, and a tensor without elements, too.
bool goes_anywhere(const Tensor& x) {
  return (x.ndim() == 0 && x.device().is_cpu()) || x.device().type == DeviceType::meta;
}

Device common_device(const Infer& c) {
  const Tensor* first = &c.input(0);
  for (int i = 1; i < c.input_count(); ++i) {
    if (!c.has_input(i) || c.input(i).device() == first->device()) {
      continue;
    }
    check(goes_anywhere(*first) || goes_anywhere(c.input(i)), c.op(),
          ": inputs on different devices; got ", first->device(), " and ", c.input(i).device(),
          ", expected one device");
    first = goes_anywhere(*first) ? &c.input(i) : first;
  }
  return first->device();
}

}  // namespace

void infer_elementwise(Infer& c, int inputs, DType dtype) {
  check(c.input_count() == inputs, c.op(), ": wrong number of inputs; got ", c.input_count(),
        ", expected ", inputs);
  const Shape* shape = &c.input(0).shape();
  Shape broadcast;  // where some differ: every call of an op comes here, and few need it
  for (int i = 1; i < inputs; ++i) {
    if (c.input(i).shape() != *shape) {
      broadcast = broadcast_shapes(c.op(), *shape, c.input(i).shape());
      shape = &broadcast;
    }
  }
  c.add_output(*shape, dtype);
  c.outputs()[0].device = common_device(c);
}

void check_real(const Infer& c) {
  for (int i = 0; i < c.input_count(); ++i) {
    check<TypeError>(!is_complex(c.input(i).dtype()), c.op(), ": wrong dtype of input ", i,
                     "; got ", c.input(i).dtype(), ", expected a real one");
  }
}

ShardRule elementwise_rule(const Infer& c) {
  const Shape& shape = c.outputs()[0].shape;
  ShardRule rule;
  rule.outputs.push_back(DimLabels::numbered(shape.size()));
  for (int i = 0; i < c.input_count(); ++i) {
    DimLabels& in = rule.inputs.emplace_back(c.has_input(i) ? c.input(i).ndim() : 0);
    const int offset = shape.size() - in.size;
    for (int d = 0; d < in.size; ++d) {
      const bool broadcasts = c.input(i).shape()[d] != shape[d + offset];
      in[d] = broadcasts ? DimLabels::kWhole : static_cast<std::int8_t>(d + offset);
    }
  }
  return rule;
}

}  // namespace tessera
