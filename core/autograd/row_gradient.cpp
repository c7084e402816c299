#include <tessera/core/autograd/row_gradient.h>

#include <cstring>
#include <vector>

#include <tessera/core/ops/add_rows.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {
namespace {

/// One stretch of rows to copy: microbatches [first, first + count) of `source`.
struct Piece {
  const RowGradient* source;
  std::int32_t first;
  std::int32_t count;
};

RowGradient dense_copy(const RowGradient& rows) {
  return {contiguous(cast(rows.ids.detach(), DType::i64)), contiguous(rows.values.detach()),
          rows.parts};
}

void copy_piece(const Tensor& from, std::byte*& to, const Piece& piece) {
  const std::size_t per_part = from.nbytes() / static_cast<std::size_t>(piece.source->parts);
  const std::size_t nbytes = per_part * static_cast<std::size_t>(piece.count);
  std::memcpy(to,
              static_cast<const std::byte*>(from.raw_data()) +
                  per_part * static_cast<std::size_t>(piece.first),
              nbytes);
  to += nbytes;
}

RowGradient assemble(const std::vector<Piece>& pieces, std::int64_t count, std::int32_t parts) {
  const Tensor& like = pieces[0].source->values;
  RowGradient result{empty({count}, {.dtype = DType::i64}),
                     empty({count, like.shape().back()}, {.dtype = like.dtype()}), parts};
  auto* ids = static_cast<std::byte*>(result.ids.raw_data());
  auto* values = static_cast<std::byte*>(result.values.raw_data());
  for (const Piece& piece : pieces) {
    copy_piece(piece.source->ids, ids, piece);
    copy_piece(piece.source->values, values, piece);
  }
  return result;
}

std::vector<RowGradient> dense_copies(std::span<const RowGradient> all, std::int64_t& count) {
  std::vector<RowGradient> copies;
  for (const RowGradient& rows : all) {
    copies.push_back(dense_copy(rows));
    count += rows.count();
  }
  return copies;
}

}  // namespace

RowGradient merge_uses(std::span<const RowGradient> uses) {
  if (uses.empty()) {
    return {};
  }
  if (uses.size() == 1) {
    return uses[0];
  }
  std::int64_t count = 0;
  const std::vector<RowGradient> dense = dense_copies(uses, count);
  std::vector<Piece> pieces;
  for (std::int32_t m = 0; m < uses[0].parts; ++m) {
    for (const RowGradient& use : dense) {
      pieces.push_back({&use, m, 1});
    }
  }
  return assemble(pieces, count, uses[0].parts);
}

RowGradient append_passes(std::span<const RowGradient> passes) {
  if (passes.empty()) {
    return {};
  }
  if (passes.size() == 1) {
    return passes[0];
  }
  std::int64_t count = 0;
  const std::vector<RowGradient> dense = dense_copies(passes, count);
  std::vector<Piece> pieces;
  std::int32_t parts = 0;
  for (const RowGradient& pass : dense) {
    check<Unsupported>(pass.count() / pass.parts == dense[0].count() / dense[0].parts,
                       "embedding: microbatches look up different numbers of rows; got ",
                       pass.count() / pass.parts, " and ", dense[0].count() / dense[0].parts);
    pieces.push_back({&pass, 0, pass.parts});
    parts += pass.parts;
  }
  return assemble(pieces, count, parts);
}

Tensor add_rows(const Tensor& dense, const RowGradient& rows, const TensorMeta& parameter,
                const Tensor& destination) {
  const AddRows::Attrs attrs{.rows = parameter.shape[0], .parts = rows.parts};
  return call_into<AddRows>(destination, {rows.values, rows.ids, dense}, attrs);
}

}  // namespace tessera
