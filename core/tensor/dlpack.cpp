#include <tessera/core/tensor/dlpack.h>

#include <memory>
#include <optional>

namespace tessera {
namespace {

enum Code : std::uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBFloat = 4, kComplex = 5, kBool = 6 };

std::uint8_t code_of(DType dtype) {
  if (dtype == DType::boolean) {
    return kBool;
  }
  if (dtype == DType::u8) {
    return kUInt;
  }
  if (dtype == DType::bf16) {
    return kBFloat;
  }
  return is_integral(dtype) ? kInt : is_complex(dtype) ? kComplex : kFloat;
}

dlpack::DataType data_type(DType dtype) {
  return {code_of(dtype), static_cast<std::uint8_t>(8 * size_of(dtype)), 1};
}

std::optional<DType> dtype_in(const dlpack::DataType& type) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    const dlpack::DataType known = data_type(dtype);
    if (type.code == known.code && type.bits == known.bits && type.lanes == known.lanes) {
      return dtype;
    }
  }
  return std::nullopt;
}

/// What was handed out, and what it needs.
struct HandedOut {
  Tensor tensor;
  Shape shape;
  Strides strides;
  dlpack::ManagedTensor managed;
};

void take_back(dlpack::ManagedTensor* managed) {
  delete static_cast<HandedOut*>(managed->context);
}

DType checked_dtype(const dlpack::View& v) {
  const auto dtype = dtype_in(v.dtype);
  check<Unsupported>(dtype.has_value(), "from_dlpack: dtype not supported; got code ",
                     int{v.dtype.code}, ", ", int{v.dtype.bits}, " bits, ", v.dtype.lanes,
                     " lanes");
  return *dtype;
}

Shape checked_shape(const dlpack::View& v) {
  check(v.ndim >= 0 && v.ndim <= kMaxDims, "from_dlpack: number of dims; got ", v.ndim,
        ", expected at most ", kMaxDims);
  Shape shape;
  for (int d = 0; d < v.ndim; ++d) {
    check(v.shape[d] >= 0, "from_dlpack: negative size; got ", v.shape[d], " in dim ", d);
    shape.push_back(v.shape[d]);
  }
  return shape;
}

Strides checked_strides(const dlpack::View& v, const Shape& shape) {
  if (v.strides == nullptr) {
    return contiguous_strides(shape);
  }
  Strides strides;
  for (int d = 0; d < v.ndim; ++d) {
    check<Unsupported>(v.strides[d] >= 0, "from_dlpack: negative stride; got ", v.strides[d],
                       " in dim ", d);
    strides.push_back(v.strides[d]);
  }
  return strides;
}

/// Elements from the first to the last.
std::int64_t extent_of(const Shape& shape, const Strides& strides) {
  std::int64_t extent = 1;
  for (int d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0) {
      return 0;
    }
    extent += (shape[d] - 1) * strides[d];
  }
  return extent;
}

void check_place(const dlpack::View& v, const std::byte* data, DType dtype) {
  check<Unsupported>(v.device.type == dlpack::Device{}.type,
                     "from_dlpack: device not supported; got type ", v.device.type,
                     ", expected 1, a CPU");
  const std::size_t alignment = visit_dtype(dtype, []<class T>() { return alignof(T); });
  check(reinterpret_cast<std::uintptr_t>(data) % alignment == 0,
        "from_dlpack: elements are not aligned; expected a multiple of ", alignment, " bytes");
}

/// What `to_dlpack` handed out comes back: the same memory with its count of writes, so that
/// gradients notice them.
Tensor own_memory(const Tensor& handed_out, const dlpack::View& view, const std::byte* data) {
  Tensor x = handed_out.detach();
  TensorImpl& impl = x.get();
  impl.shape = checked_shape(view);
  impl.strides = checked_strides(view, impl.shape);
  impl.dtype = checked_dtype(view);
  impl.offset = (data - impl.storage->data()) / static_cast<std::int64_t>(size_of(impl.dtype));
  impl.set_microbatches({});
  return x;
}

}  // namespace

dlpack::ManagedTensor* to_dlpack(const Tensor& x) {
  check(
      !x.requires_grad(),
      "to_dlpack: the tensor requires gradients, and writes elsewhere cannot be taped; detach it");
  check(x.device().is_cpu(), "to_dlpack: a tensor on ", x.device(), " has no elements in memory");
  auto out = std::make_unique<HandedOut>();
  out->tensor = x, out->shape = x.shape(), out->strides = x.strides();
  dlpack::View& view = out->managed.view;
  view.data = x.raw_data();
  view.ndim = x.ndim();
  view.dtype = data_type(x.dtype());
  view.shape = out->shape.begin(), view.strides = out->strides.begin();
  out->managed.context = out.get(), out->managed.deleter = take_back;
  return &out.release()->managed;
}

Tensor from_dlpack(dlpack::ManagedTensor* managed) {
  const dlpack::View& view = managed->view;
  const DType dtype = checked_dtype(view);
  const Shape shape = checked_shape(view);
  static_cast<void>(nbytes_of("from_dlpack", shape, size_of(dtype)));  // they can be counted
  const Strides strides = checked_strides(view, shape);
  auto* data = static_cast<std::byte*>(view.data) + view.byte_offset;
  check_place(view, data, dtype);
  const std::size_t nbytes = static_cast<std::size_t>(extent_of(shape, strides)) * size_of(dtype);
  const std::shared_ptr<const void> owner(managed, [](dlpack::ManagedTensor* m) {
    if (m->deleter != nullptr) {
      m->deleter(m);
    }
  });
  if (managed->deleter == take_back) {
    return own_memory(static_cast<const HandedOut*>(managed->context)->tensor, view, data);
  }
  auto impl = make_ref<TensorImpl>(make_ref<Storage>(data, nbytes, Device{}, owner), shape, dtype,
                                   Device{});
  impl->strides = strides;
  return Tensor(std::move(impl));
}

}  // namespace tessera
