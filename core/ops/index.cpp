#include <tessera/core/ops/index.h>

#include <tessera/core/dispatch/split_plan.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/copy.h>
#include <tessera/core/ops/expand.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/put.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/ops/support/positions.h>
#include <tessera/core/ops/take.h>
#include <tessera/core/ops/unsqueeze.h>
#include <tessera/core/tensor/elements.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/transfer.h>

namespace tessera {
namespace {

/// Indices resolved into a view and, behind it, lists of positions.
struct Resolved {
  Tensor view;
  int first = 0;  ///< dim of the first list
  std::vector<Tensor> lists;
};

int dims_taken(const Index& index) {
  if (const auto* tensor = std::get_if<Tensor>(&index)) {
    return tensor->dtype() == DType::boolean ? unstacked_ndim(*tensor) : 1;
  }
  return std::holds_alternative<NewDim>(index) || std::holds_alternative<Rest>(index) ? 0 : 1;
}

/// Number of dims that kRest stands for.
int dims_left(const Tensor& x, std::initializer_list<Index> indices) {
  int taken = 0;
  int rests = 0;
  for (const Index& index : indices) {
    taken += dims_taken(index);
    rests += std::holds_alternative<Rest>(index) ? 1 : 0;
  }
  const int ndim = unstacked_ndim(x);
  check(taken <= ndim && rests <= 1, "index: too many indices; got ", indices.size(), " for ",
        x.shape(), ", expected at most one a dim and one rest");
  return ndim - taken;
}

class Resolver {
 public:
  Resolver(const Tensor& x, std::initializer_list<Index> indices) {
    result_.view = x;
    const int left = dims_left(x, indices);
    for (const Index& index : indices) {
      if (std::holds_alternative<Rest>(index)) {
        dim_ += left;
      } else {
        std::visit([this](const auto& item) { apply(item); }, index);
      }
    }
    broadcast_lists();
  }
  [[nodiscard]] Resolved take() { return std::move(result_); }

 private:
  void apply(std::int64_t position) { result_.view = select(result_.view, dim_, position); }
  void apply(const Range& range) {
    result_.view = slice(result_.view, dim_++, range.start, range.end, range.step);
  }
  void apply(NewDim) { result_.view = unsqueeze(result_.view, dim_++); }
  void apply(Rest) {}
  void apply(const Tensor& tensor) {
    if (result_.lists.empty()) {
      result_.first = dim_;
    }
    check<Unsupported>(
        dim_ == result_.first + static_cast<int>(result_.lists.size()),
        "index: got lists with other indices between them, expected lists side by side; "
        "permute brings them together");
    if (tensor.dtype() == DType::boolean) {
      apply_mask(tensor);
    } else {
      check(is_integral(tensor.dtype()), "index: wrong dtype of positions; got ", tensor.dtype(),
            ", expected integers or a mask of bools");
      result_.lists.push_back(cast(tensor, DType::i64));
      ++dim_;
    }
  }
  void apply_mask(const Tensor& mask) {
    if (mask.microbatches()) {  // each microbatch would give another number of positions
      fail_on_microbatches("index", "chooses by a mask that depends on the samples");
    }
    if (mask.ndim() == 0) {  // all or nothing
      apply(kNewDim);
      result_.lists.push_back(nonzero(unsqueeze(mask, 0))[0]);
      return;
    }
    for (int d = 0; d < mask.ndim(); ++d) {
      check(mask.shape()[d] == unstacked_shape(result_.view)[dim_],
            "index: the mask does not fit; got ", mask.shape(), " from dim ", dim_ - d,
            " on, expected the sizes of ", result_.view.shape());
      ++dim_;
    }
    for (Tensor& list : nonzero(mask)) {
      result_.lists.push_back(std::move(list));
    }
  }
  void broadcast_lists() {
    stack_alike(result_.lists);
    Shape shape;
    for (const Tensor& list : result_.lists) {
      shape = broadcast_shapes("index", shape, unstacked_shape(list));
    }
    for (Tensor& list : result_.lists) {
      list = unstacked_shape(list) == shape ? list : expand(list, shape);
    }
  }

  Resolved result_;
  int dim_ = 0;
};

}  // namespace

std::vector<Tensor> nonzero(const Tensor& mask) {
  const Tensor host = to_host(mask);
  const TensorImpl& x = host.get();
  std::vector<std::vector<std::int64_t>> positions(static_cast<std::size_t>(mask.ndim()));
  StridedCounter<1> at(x.shape, {x.strides});
  for (std::int64_t n = x.numel(); n > 0; --n, at.next()) {
    if (load_as<std::complex<double>>(x, at.offsets[0]) != 0.0) {
      for (int d = 0; d < mask.ndim(); ++d) {
        positions[static_cast<std::size_t>(d)].push_back(at.index()[d]);
      }
    }
  }
  std::vector<Tensor> lists;
  for (const std::vector<std::int64_t>& list : positions) {
    lists.push_back(on_device(
        from_values<std::int64_t>(list, {static_cast<std::int64_t>(list.size())}), mask.device()));
  }
  return lists;
}

Tensor index(const Tensor& x, std::initializer_list<Index> indices) {
  const Resolved part = Resolver(x, indices).take();
  return part.lists.empty() ? part.view : take(part.view, part.first, part.lists);
}

void assign(const Tensor& x, std::initializer_list<Index> indices, const Tensor& value) {
  const Resolved part = Resolver(x, indices).take();
  if (part.lists.empty()) {
    part.view.copy_(value);
    return;
  }
  check_borders("assign", x, value);
  const Shape shape = taken_shape(unstacked_shape(part.view), unstacked_shape(part.lists[0]),
                                  static_cast<int>(part.lists.size()), part.first);
  const Tensor values = expand(cast(value, x.dtype()), shape);
  put_(part.view, part.first, part.lists, values);
}

void assign(const Tensor& x, std::initializer_list<Index> indices, Number value) {
  value.check_fits(x.dtype(), "assign");
  assign(x, indices, on_device(value.tensor(), x.device()));
}

}  // namespace tessera
