#include <tessera/core/ops/support/row_sums.h>

namespace tessera {

std::vector<std::int32_t> microbatch_of_rows(const TensorImpl& x, std::int32_t parts) {
  Shape rows = x.shape;
  if (!rows.empty()) {
    rows.erase(rows.size() - 1);
  }
  std::vector<std::int32_t> part_of_row(static_cast<std::size_t>(numel_of(rows)), 0);
  if (parts == 1 || part_of_row.empty()) {
    return part_of_row;
  }
  const std::int64_t per_part = rows[x.microbatches().dim] / parts;
  StridedCounter<1> at(rows, {contiguous_strides(rows)});
  for (std::int32_t& part : part_of_row) {
    part = static_cast<std::int32_t>(at.index()[x.microbatches().dim] / per_part);
    at.next();
  }
  return part_of_row;
}

}  // namespace tessera
