#include <tessera/dist/parallel/used_parameters.h>

#include <algorithm>

#include <tessera/dist/comm/collectives.h>

namespace tessera::dist {

UsedParameters::UsedParameters(Communicator& comm, std::span<const ReducedParameter> parameters,
                               const LossCountTable& counts)
    : parameters_(parameters.size()), tables_(std::make_shared<Tables>()) {
  auto& [mine, of_all] = *tables_;
  mine.resize(parameters.size() * columns);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const ReducedParameter& p = parameters[i];
    if (p.trained) {
      const std::span entry = std::span(mine).subspan(i * columns, columns);
      entry[used] = p.reached || p.sums.has_dense() || p.sums.has_sparse();
      entry[dense] = p.sums.has_dense();
      entry[early] = p.early;
      entry[rows] = p.sums.row_count();
    }
  }
  counts.append_to(mine);
  of_all.resize(mine.size() * static_cast<std::size_t>(comm.size()));
  Collective c = collective_of<std::int64_t>(CollectiveKind::all_gather, mine.data(), of_all.data(),
                                             mine.size(), "backward: used parameters");
  c.send = Operand(mine.data(), mine.size() * sizeof(std::int64_t), tables_);
  c.receive = Operand(of_all.data(), of_all.size() * sizeof(std::int64_t), tables_);
  work_ = comm.launch(std::move(c));
}

std::vector<std::int64_t> UsedParameters::by_rank(std::size_t index, Column column) const {
  std::vector<std::int64_t> entries;
  for (std::size_t at = index * columns + column; at < tables_->of_all.size();
       at += parameters_ * columns) {
    entries.push_back(tables_->of_all[at]);
  }
  return entries;
}

int UsedParameters::count(std::size_t index, Column column) const {
  return static_cast<int>(
      std::ranges::count_if(by_rank(index, column), [](std::int64_t x) { return x != 0; }));
}

}  // namespace tessera::dist
