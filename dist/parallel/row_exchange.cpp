#include <tessera/dist/parallel/row_exchange.h>

#include <algorithm>
#include <numeric>

#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/dist/comm/collectives.h>

namespace tessera::dist {
namespace {

/// Gathers `width` numbers an id from every rank; ranks with fewer ids pad.
template <class T>
std::vector<T> gather_uneven(Communicator& comm, std::vector<T> mine,
                             const std::vector<std::int64_t>& counts, std::int64_t width,
                             const std::string& label) {
  const auto most = static_cast<std::size_t>(std::ranges::max(counts) * width);
  mine.resize(most);
  std::vector<T> padded(most * counts.size());
  all_gather<T>(comm, mine, padded, label).wait();
  std::vector<T> all;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    const auto begin = padded.begin() + static_cast<std::ptrdiff_t>(r * most);
    all.insert(all.end(), begin, begin + counts[r] * width);
  }
  return all;
}

}  // namespace

RankRows flatten_rows(const RowGradient& rows) {
  if (!rows.defined()) {
    return {};
  }
  const Tensor values = contiguous(cast(rows.values, DType::f32));
  const float* data = values.data<float>();
  return {.ids = rows.ids.to_vector<std::int64_t>(),
          .values = std::vector<float>(data, data + values.numel())};
}

RowGradient gather_rows(Communicator& comm, const RankRows& mine,
                        const std::vector<std::int64_t>& counts, std::int64_t width,
                        const std::string& label) {
  const auto ids = gather_uneven(comm, mine.ids, counts, 1, label);
  const auto values = gather_uneven(comm, mine.values, counts, width, label);
  const auto n = static_cast<std::int64_t>(ids.size());
  return {.ids = from_values<std::int64_t>(ids, {n}),
          .values = from_values<float>(values, {n, width})};
}

}  // namespace tessera::dist
