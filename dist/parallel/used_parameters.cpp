#include <tessera/dist/parallel/used_parameters.h>

#include <algorithm>

#include <tessera/dist/comm/collectives.h>

namespace tessera::dist {

UsedParameters::UsedParameters(Communicator& comm, std::span<const ReducedParameter> parameters,
                               const LossCountTable& counts)
    : parameters_(parameters.size()), mine_(parameters.size() * columns) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const ReducedParameter& p = parameters[i];
    if (p.trained) {
      const std::span entry = std::span(mine_).subspan(i * columns, columns);
      entry[used] = p.reached || p.sums.has_dense() || p.sums.has_rows();
      entry[dense] = p.sums.has_dense();
      entry[early] = p.early;
      entry[rows] = p.sums.row_count();
    }
  }
  counts.append_to(mine_);
  table_.resize(mine_.size() * static_cast<std::size_t>(comm.size()));
  work_ = all_gather<std::int64_t>(comm, mine_, table_, "backward: used parameters");
}

std::vector<std::int64_t> UsedParameters::by_rank(std::size_t index, Column column) const {
  std::vector<std::int64_t> entries;
  for (std::size_t at = index * columns + column; at < table_.size(); at += parameters_ * columns) {
    entries.push_back(table_[at]);
  }
  return entries;
}

int UsedParameters::count(std::size_t index, Column column) const {
  return static_cast<int>(
      std::ranges::count_if(by_rank(index, column), [](std::int64_t x) { return x != 0; }));
}

}  // namespace tessera::dist
