#include <tessera/core/ops/support/row_sums.h>

namespace tessera {

std::vector<std::int32_t> microbatch_of_rows(const TensorImpl& x, std::int32_t microbatch_count) {
  Shape rows = x.shape;
  if (!rows.empty()) {
    rows.erase(rows.size() - 1);
  }
  std::vector<std::int32_t> microbatch_of_row(static_cast<std::size_t>(numel_of(rows)), 0);
  if (microbatch_count == 1 || microbatch_of_row.empty()) {
    return microbatch_of_row;
  }
  const std::int64_t microbatch_size = rows[x.microbatches().dim] / microbatch_count;
  StridedCounter<1> at(rows, {contiguous_strides(rows)});
  for (std::int32_t& microbatch : microbatch_of_row) {
    microbatch = static_cast<std::int32_t>(at.index()[x.microbatches().dim] / microbatch_size);
    at.next();
  }
  return microbatch_of_row;
}

}  // namespace tessera
