#include <tessera/core/ops/support/row_sums.h>

namespace tessera {

std::vector<std::int32_t> microbatch_of_rows(const Kernel& k, const TensorImpl& x) {
  Shape rows = x.shape;
  if (!rows.empty()) {
    rows.erase(rows.size() - 1);
  }
  std::vector<std::int32_t> parts(static_cast<std::size_t>(numel_of(rows)), 0);
  if (k.cuts() == 1 || parts.empty()) {
    return parts;
  }
  const std::int64_t per_part = rows[x.cut.dim] / k.cuts();
  StridedCounter<1> at(rows, {contiguous_strides(rows)});
  for (std::int32_t& part : parts) {
    part = static_cast<std::int32_t>(at.index()[x.cut.dim] / per_part);
    at.next();
  }
  return parts;
}

}  // namespace tessera
