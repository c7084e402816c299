#include <tessera/dist/parallel/fingerprint_exchange.h>

#include <algorithm>
#include <bit>
#include <utility>

#include <tessera/dist/comm/collectives.h>

namespace tessera::dist {

void FingerprintExchange::begin(Communicator& comm, std::uint64_t mine, std::string label) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  auto table = std::make_shared<std::vector<std::int64_t>>(1 + ranks);
  table->front() = std::bit_cast<std::int64_t>(mine);
  Collective c = collective_of<std::int64_t>(CollectiveKind::all_gather, table->data(),
                                             table->data() + 1, 1, std::move(label));
  c.send = Operand(table->data(), sizeof mine, table);
  c.receive = Operand(table->data() + 1, ranks * sizeof mine, table);
  work_ = comm.launch(std::move(c));
  table_ = std::move(table);  // a launch that was refused is none under way
}

bool FingerprintExchange::all_equal() const {
  work_.wait();
  return std::ranges::all_of(*table_, [this](std::int64_t x) { return x == table_->front(); });
}

void FingerprintExchange::end() {
  table_.reset();
  work_ = Work();
}

}  // namespace tessera::dist
