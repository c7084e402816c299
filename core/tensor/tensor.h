// Tensor: an n-dimensional array, possibly on the tape of a gradient computation.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <ostream>
#include <vector>

#include <tessera/core/base/ref.h>
#include <tessera/core/device/device.h>
#include <tessera/core/tensor/dtype.h>
#include <tessera/core/tensor/microbatch_layout.h>
#include <tessera/core/tensor/shape.h>
#include <tessera/core/tensor/tensor_impl.h>

namespace tessera {

struct BackwardOptions;  // core/autograd/engine.h

struct TensorOptions {
  DType dtype = DType::f32;
  Device device{};
  bool requires_grad = false;
};

/// Base of what stands for a tensor in other namespaces (nn::Parameter): ops and operators on
/// tensors are found for it, too.
struct StandsForTensor {};

/// A handle: copying it shares the tensor. Default-constructed it is undefined, which stands for
/// "no tensor" wherever one is optional.
///
/// Ops on tensors are free functions (<tessera/ops.h>): `relu(x)`, `matmul(a, b)`, `a + b`.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Ref<TensorImpl> impl) noexcept : impl_(std::move(impl)) {}

  [[nodiscard]] bool defined() const noexcept { return static_cast<bool>(impl_); }
  /// A tensor is no condition, nor a bool in any other place: what is meant must be said.
  template <std::same_as<bool> B>
  operator B() const = delete;  // no condition: write x.item<bool>(), any, all or x.defined()

  [[nodiscard]] const Shape& shape() const { return get().shape; }
  [[nodiscard]] const Strides& strides() const { return get().strides; }
  [[nodiscard]] int ndim() const { return get().shape.size(); }
  /// Size of `dim`, which may be negative to count from the end.
  [[nodiscard]] std::int64_t size(int dim) const;
  [[nodiscard]] std::int64_t numel() const { return get().numel(); }
  [[nodiscard]] std::size_t nbytes() const;
  [[nodiscard]] DType dtype() const { return get().dtype; }
  [[nodiscard]] Device device() const { return get().device; }
  [[nodiscard]] bool is_contiguous() const { return get().contiguous(); }
  [[nodiscard]] const MicrobatchLayout& microbatches() const { return get().microbatches(); }
  /// True when both share memory.
  [[nodiscard]] bool shares_storage(const Tensor& other) const;

  /// Pointer to the first element; waits until pending work on the tensor is done.
  /// Throws InvalidArgument when `T` is not the tensor's element type.
  template <class T>
  [[nodiscard]] T* data() const {
    check(dtype_of<T> == dtype(), "data: wrong element type; got ", dtype_of<T>, ", expected ",
          dtype());
    return static_cast<T*>(raw_data());
  }
  [[nodiscard]] void* raw_data() const;

  /// The only element as a C++ number, converted. A value that exists once a microbatch gives the
  /// mean over the microbatches of the pass, weighted by what a loss counted in each; sums over
  /// samples, and what is linear in them, give the sum over the pass, the largest and least of
  /// samples the largest and least. Throws Unsupported for ratios of sums and other numbers that
  /// are none of these, InvalidArgument for several elements, for a sum of losses with different
  /// counts, and for a value whose whole part an integer T cannot hold, nan among them.
  template <class T = double>
  [[nodiscard]] T item() const {
    if constexpr (std::same_as<T, bool>) {
      return item_as_bool();
    } else if constexpr (std::integral<T>) {
      using Limits = std::numeric_limits<T>;
      constexpr bool kUnsigned64 = sizeof(T) == 8 && std::unsigned_integral<T>;
      constexpr auto kMost =
          static_cast<std::int64_t>(kUnsigned64 ? Limits::max() / 2 : Limits::max());
      return static_cast<T>(item_between(static_cast<std::int64_t>(Limits::min()), kMost));
    } else {
      return static_cast<T>(item_as_double());
    }
  }
  /// All elements in row-major order, converted.
  template <class T>
  [[nodiscard]] std::vector<T> to_vector() const;

  // --- gradients ------------------------------------------------------------------------------

  /// True when gradients flow to or through this tensor.
  [[nodiscard]] bool requires_grad() const noexcept;
  /// Makes a leaf collect gradients, or stop. Throws InvalidArgument for integers and for tensors
  /// that an op computed or that were made under an InferenceGuard which has ended.
  Tensor& set_requires_grad(bool on);
  /// True for tensors that no recorded op computed.
  [[nodiscard]] bool is_leaf() const noexcept;
  /// The accumulated gradient of a leaf; undefined when there is none.
  [[nodiscard]] Tensor grad() const;
  /// Makes `gradient`, of this leaf's shape, dtype and device, its gradient, also of one that is
  /// frozen; an undefined one drops it. Throws InvalidArgument for others and for computed tensors.
  void set_grad(Tensor gradient) const;
  /// Adds d(this)/d(leaf) to `grad` of every leaf that this was computed from. `gradient` has this
  /// tensor's shape; without it this must be a single number. Inside a pass of a step with grain G
  /// each microbatch's number is weighted by 1/G (times `gradient`, where that is given), so that
  /// gradients are means over the global batch; for a
  /// mean over counted elements, over those of the global batch (docs/determinism.md). Throws
  /// InvalidArgument for a sum of losses with different counts.
  void backward(const Tensor& gradient = {}) const;
  /// Runs backward as `options` say (core/autograd/engine.h): `backward({}, {.keep_graph = true})`.
  void backward(const Tensor& gradient, const BackwardOptions& options) const;
  /// A tensor of these elements, off the tape.
  [[nodiscard]] Tensor detach() const;
  /// Counts writes to the storage that autograd must notice.
  [[nodiscard]] std::uint32_t version() const;

  /// Writes the elements of `source` (broadcast and converted) into this tensor.
  const Tensor& copy_(const Tensor& source) const;

  [[nodiscard]] TensorImpl& get() const {
    check<MissingTensor>(
        defined(), "tensor: it has no value; got one that was default-constructed or moved from");
    return *impl_;
  }
  [[nodiscard]] const Ref<TensorImpl>& impl() const noexcept { return impl_; }
  /// True when both are handles on one tensor.
  [[nodiscard]] bool is(const Tensor& other) const noexcept { return impl_ == other.impl_; }

 private:
  [[nodiscard]] double item_as_double() const;
  [[nodiscard]] bool item_as_bool() const;
  [[nodiscard]] std::int64_t item_between(std::int64_t least, std::int64_t most) const;

  Ref<TensorImpl> impl_;
};

/// A tensor as an argument: no reference counting for handing it on.
class TensorRef {
 public:
  TensorRef(const Tensor& tensor) noexcept : tensor_(&tensor) {}
  operator const Tensor&() const noexcept { return *tensor_; }
  const Tensor* operator->() const noexcept { return tensor_; }
  const Tensor& operator*() const noexcept { return *tensor_; }

 private:
  const Tensor* tensor_;
};

/// Prints the elements in nested brackets, as PyTorch does, at most a few at each end.
std::ostream& operator<<(std::ostream&, const Tensor&);

}  // namespace tessera
