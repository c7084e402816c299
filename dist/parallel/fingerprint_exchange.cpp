#include <tessera/dist/parallel/fingerprint_exchange.h>

#include <algorithm>
#include <bit>
#include <utility>

#include <tessera/dist/comm/collectives.h>

namespace tessera::dist {

void FingerprintExchange::begin(Communicator& comm, std::uint64_t mine, std::string label) {
  table_ = std::make_shared<std::vector<std::int64_t>>(1 + static_cast<std::size_t>(comm.size()));
  table_->front() = std::bit_cast<std::int64_t>(mine);
  Collective c = collective_of<std::int64_t>(CollectiveKind::all_gather, table_->data(),
                                             table_->data() + 1, 1, std::move(label));
  c.send = Operand(table_->data(), sizeof mine, table_);
  c.receive =
      Operand(table_->data() + 1, static_cast<std::size_t>(comm.size()) * sizeof mine, table_);
  work_ = comm.launch(std::move(c));
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
