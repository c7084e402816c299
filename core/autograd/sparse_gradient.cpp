#include <tessera/core/autograd/sparse_gradient.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include <tessera/core/autograd/pass_tree.h>
#include <tessera/core/ops/add_rows.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/concat.h>
#include <tessera/core/ops/expand.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>

namespace tessera {
namespace {

/// Rows to copy: [begin, end) of `source`.
struct RowRange {
  const SparseGradient* source;
  std::int64_t begin;
  std::int64_t end;
};

std::vector<SparseGradient> dense_copies(std::span<const SparseGradient> all) {
  std::vector<SparseGradient> copies;
  std::ranges::transform(all, std::back_inserter(copies), flattened);
  return copies;
}

SparseGradient assemble(const std::vector<RowRange>& ranges, std::int64_t first,
                        std::vector<std::int64_t> lengths) {
  std::vector<Tensor> ids, values;
  for (const RowRange& range : ranges) {
    ids.push_back(slice(range.source->ids, 0, range.begin, range.end));
    values.push_back(slice(range.source->values, 0, range.begin, range.end));
  }
  return {.ids = concat(std::vector<TensorRef>(ids.begin(), ids.end())),
          .values = concat(std::vector<TensorRef>(values.begin(), values.end())),
          .microbatch_count = static_cast<std::int32_t>(lengths.size()),
          .first = first,
          .lengths = std::move(lengths)};
}

bool is_even(const std::vector<std::int64_t>& lengths) {
  return std::ranges::adjacent_find(lengths, std::not_equal_to{}) == lengths.end();
}

/// Rows with these sums in microbatches of equal length, which the op wants: the shorter ones are
/// filled up with +0 for a row that gets something anyway, which changes no bit of it.
SparseGradient fill_up(const SparseGradient& rows) {
  const std::int64_t longest = std::ranges::max(rows.lengths);
  const SparseGradient dense = flattened(rows);
  const SparseGradient filling{
      .ids = contiguous(expand(slice(dense.ids, 0, 0, 1), {longest})),
      .values = zeros({longest, dense.values.shape().back()},
                      {.dtype = dense.values.dtype(), .device = dense.values.device()})};
  const std::vector<std::int64_t> borders = rows.borders();
  std::vector<RowRange> ranges;
  for (std::size_t m = 0; m < rows.lengths.size(); ++m) {
    ranges.push_back({&dense, borders[m], borders[m + 1]});
    ranges.push_back({&filling, 0, longest - rows.lengths[m]});
  }
  return assemble(ranges, rows.first, std::vector(rows.lengths.size(), longest));
}

/// Values of shape (count, width) without borders, on the tape where they are and it is wanted.
Tensor flat_values(const SparseGradient& rows) {
  const Shape flat{rows.count(), rows.values.shape().back()};
  if (!grad_enabled() || !rows.values.requires_grad()) {
    const Tensor values = contiguous(rows.values.detach());
    values.get().set_microbatches({});
    return reshape(values, flat);
  }
  if (!rows.values.microbatches()) {
    return reshape(rows.values, flat);
  }
  std::vector<Tensor> pieces;
  for (const Tensor& piece : unbind_microbatches(rows.values)) {
    Shape rows_of_piece = piece.shape();
    rows_of_piece.erase(rows_of_piece.size() - 1);
    pieces.push_back(reshape(piece, {numel_of(rows_of_piece), flat.back()}));
  }
  return concat(std::vector<TensorRef>(pieces.begin(), pieces.end()));
}

}  // namespace

std::vector<std::int64_t> SparseGradient::borders() const {
  std::vector<std::int64_t> borders{0};
  for (std::int32_t m = 0; m < microbatch_count; ++m) {
    borders.push_back(borders.back() + (lengths.empty() ? count() / microbatch_count
                                                        : lengths[static_cast<std::size_t>(m)]));
  }
  return borders;
}

SparseGradient SparseGradient::within(std::int64_t begin, std::int64_t size) const {
  check<InternalError>(begin <= first && first + microbatch_count <= begin + size,
                       "sparse gradient: microbatches out of range; got ", first, " to ",
                       first + microbatch_count, ", expected a part of ", begin, " to ",
                       begin + size);
  SparseGradient wider = *this;
  wider.first = begin;
  wider.microbatch_count = static_cast<std::int32_t>(size);
  const std::vector<std::int64_t> known = borders();
  wider.lengths.assign(static_cast<std::size_t>(size), 0);
  for (std::size_t m = 0; m + 1 < known.size(); ++m) {
    wider.lengths[static_cast<std::size_t>(first - begin) + m] = known[m + 1] - known[m];
  }
  return wider;
}

SparseGradient flattened(const SparseGradient& rows) {
  SparseGradient flat = rows;
  flat.ids = contiguous(cast(rows.ids.detach(), DType::i64));
  flat.ids.get().set_microbatches({});  // `microbatch_count` and `lengths` say where they lie
  flat.ids = reshape(flat.ids, {rows.count()});
  flat.values = flat_values(rows);
  return flat;
}

SparseGradient kept_for_later(SparseGradient rows) {
  const auto own = [](const Tensor& x) {
    Tensor copy = clone(x);
    copy.get().set_microbatches(x.microbatches());
    return copy;
  };
  rows.ids = own(rows.ids.detach());
  rows.values = is_exclusive(rows.values) ? rows.values : own(rows.values);
  return rows;
}

SparseGradient merge_uses(std::span<const SparseGradient> uses) {
  if (uses.empty()) {
    return {};
  }
  if (uses.size() == 1) {
    return uses[0];
  }
  const std::vector<SparseGradient> dense = dense_copies(uses);
  const std::int32_t microbatch_count =
      std::ranges::max(uses, {}, &SparseGradient::microbatch_count).microbatch_count;
  std::vector<RowRange> ranges;
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(microbatch_count));
  for (std::size_t m = 0; m < lengths.size(); ++m) {
    for (const SparseGradient& use : dense) {
      const std::vector<std::int64_t> borders = use.within(use.first, microbatch_count).borders();
      ranges.push_back({&use, borders[m], borders[m + 1]});
      lengths[m] += borders[m + 1] - borders[m];
    }
  }
  return assemble(ranges, uses[0].first, std::move(lengths));
}

SparseGradient append_passes(std::span<const SparseGradient> passes) {
  if (passes.empty()) {
    return {};
  }
  if (passes.size() == 1) {
    return passes[0];
  }
  const std::vector<SparseGradient> dense = dense_copies(passes);
  const std::int64_t first = dense.front().first;
  std::vector<RowRange> ranges;
  std::vector<std::int64_t> lengths;
  for (const SparseGradient& pass : dense) {
    const auto before = static_cast<std::int64_t>(lengths.size());
    check<InternalError>(pass.first >= first + before,
                         "sparse gradient: passes out of order; got microbatch ", pass.first,
                         ", expected one from ", first + before, " on");
    const std::int64_t gap = pass.first - first - before;
    const SparseGradient wider = pass.within(pass.first - gap, gap + pass.microbatch_count);
    lengths.insert(lengths.end(), wider.lengths.begin(), wider.lengths.end());
    ranges.push_back({&pass, 0, pass.count()});
  }
  return assemble(ranges, first, std::move(lengths));
}

Tensor add_sparse(const Tensor& dense, const SparseGradient& rows, const TensorMeta& parameter,
                  const Tensor& destination) {
  if (!is_even(rows.lengths)) {
    return add_sparse(dense, fill_up(rows), parameter, destination);
  }
  const AddRows::Attrs attrs{.rows = parameter.shape[0], .microbatch_count = rows.microbatch_count};
  return call_into<AddRows>(destination, {rows.values, rows.ids, dense}, attrs);
}

}  // namespace tessera
