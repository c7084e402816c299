#include <tessera/core/ops/stack.h>

#include <algorithm>

#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/unsqueeze.h>

namespace tessera {

Tensor stack(std::span<const TensorRef> pieces, int dim) {
  check_at_least("stack", "number of tensors", pieces.size(), 1);
  const int at = normalize_dim("stack", dim, unstacked_ndim(pieces[0]) + 1);
  std::vector<Tensor> raised(pieces.begin(), pieces.end());
  stack_alike(raised);
  const Shape shape = unstacked_shape(raised[0]);
  for (Tensor& piece : raised) {
    check_shape("stack", "a tensor", unstacked_shape(piece), shape);
    piece = unsqueeze(piece, at);
  }
  return concat(std::vector<TensorRef>(raised.begin(), raised.end()), at);
}

Tensor stack(std::initializer_list<TensorRef> pieces, int dim) {
  return stack(std::span<const TensorRef>(pieces.begin(), pieces.size()), dim);
}

namespace {

std::int64_t size_along(const Tensor& x, int dim) {
  const Shape shape = unstacked_shape(x);
  check_has_dims("split", shape);
  return shape[normalize_dim("split", dim, shape.size())];
}

}  // namespace

std::vector<Tensor> split(const Tensor& x, std::int64_t size, int dim) {
  check_at_least("split", "size of pieces", size, 1);
  const std::int64_t all = size_along(x, dim);
  std::vector<Tensor> pieces{slice(x, dim, 0, std::min(size, all))};  // one of an empty dim, too
  for (std::int64_t start = size; start < all; start += size) {
    pieces.push_back(slice(x, dim, start, std::min(start + size, all)));
  }
  return pieces;
}

std::vector<Tensor> split(const Tensor& x, std::span<const std::int64_t> sizes, int dim) {
  std::vector<Tensor> pieces;
  std::int64_t start = 0;
  for (const std::int64_t size : sizes) {
    check_at_least("split", "size of a piece", size, 0);
    pieces.push_back(slice(x, dim, start, start + size));
    start += size;
  }
  check(start == size_along(x, dim), "split: the sizes do not add up; got ", start, ", expected ",
        size_along(x, dim));
  return pieces;
}

}  // namespace tessera
