#include <tessera/dist/comm/heartbeat_table.h>

#include <algorithm>
#include <span>
#include <utility>

#include <tessera/core/base/error.h>

namespace tessera::dist {

HeartbeatTable::HeartbeatTable(HeartbeatCell* cells, FailureRecord& failure, int rank, int size,
                               std::shared_ptr<const void> owner)
    : cells_(cells), failure_(&failure), rank_(rank), size_(size), owner_(std::move(owner)) {}

bool HeartbeatTable::all_left() const {
  const std::span<const HeartbeatCell> cells(cells_, static_cast<std::size_t>(size_));
  return std::ranges::all_of(cells, [](const HeartbeatCell& cell) { return cell.left > 0; });
}

std::string describe_position(const HeartbeatCell& cell) {
  const std::uint64_t launched = cell.launched.load();
  if (launched == 0) {
    return "it has launched nothing yet";
  }
  const std::uint8_t kind = cell.kind.load();
  const std::string name = kind == HeartbeatCell::kUnknown
                               ? ""
                               : detail::concat(", ", to_string(static_cast<CollectiveKind>(kind)));
  const std::string label = cell.label.load();
  return detail::concat("its last is ", launched, name, label.empty() ? "" : " '" + label + "'");
}

}  // namespace tessera::dist
