#include <tessera/dist/comm/mpi/mpi_heartbeat_table.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace tessera::dist::mpi {

/// One rank's cell, as it travels.
struct MpiHeartbeatTable::Line {
  std::int32_t rank = 0;
  std::uint32_t busy = 0;
  std::uint32_t left = 0;
  std::uint32_t ended = 0;
  std::uint32_t kind = 0;
  std::uint64_t launched = 0;
  std::uint64_t finished = 0;
  std::uint64_t beats = 0;
  std::uint64_t elsewhere = 0;
  std::array<char, 57> label{};
  std::array<char, 49> activity{};
};

namespace {

struct FailureCopy {
  std::uint32_t state = 0;
  std::uint32_t type = 0;
  std::int32_t rank = 0;
  char text[FailureRecord::kTextSize] = {};
};

template <std::size_t N>
void copy_text(std::array<char, N>& to, const std::string& from) {
  std::memcpy(to.data(), from.data(), std::min(from.size(), N - 1));
}

}  // namespace

MpiHeartbeatTable::MpiHeartbeatTable(MPI_Comm comm, const ControlBlock& control, Topology topology,
                                     std::shared_ptr<const void> owner)
    : HeartbeatTable(&control.heartbeat(0), control.failure(), topology.rank,
                     static_cast<int>(topology.host_of.size()), std::move(owner)),
      comm_(CommHandle::duplicate(comm)),
      topology_(std::move(topology)) {
  if (topology_.local_rank() != 0) {
    return;
  }
  for (const std::vector<int>& ranks : topology_.hosts) {
    if (ranks.front() != topology_.rank) {
      mails_.emplace_back(ranks.front(), sizeof(FailureCopy) + ranks.size() * sizeof(Line));
    }
  }
  for (Mail& mail : mails_) {
    listen(mail);
  }
}

void MpiHeartbeatTable::listen(Mail& mail) const {
  require(MPI_Irecv(mail.in->data(), static_cast<int>(mail.in->size()), MPI_BYTE, mail.peer, 0,
                    comm_.get(), mail.received.handle()),
          "MPI_Irecv");
}

std::vector<int> MpiHeartbeatTable::carriers(int rank) const {
  const int host = topology_.host_of[static_cast<std::size_t>(rank)];
  if (host == topology_.host()) {
    return {};
  }
  return {topology_.local_ranks().front(), topology_.hosts[static_cast<std::size_t>(host)].front()};
}

void MpiHeartbeatTable::exchange() {
  if (!mails_.empty()) {
    unless_left([this] { std::ranges::for_each(mails_, [this](Mail& mail) { carry(mail); }); });
  }
}

void MpiHeartbeatTable::carry(Mail& mail) const {
  while (mail.received.done()) {
    unpack(*mail.in);
    listen(mail);
  }
  if (mail.sent.done()) {
    mail.told = all_left_here();  // before the packet is made, which says so then
    *mail.out = pack();
    require(MPI_Isend(mail.out->data(), static_cast<int>(mail.out->size()), MPI_BYTE, mail.peer, 0,
                      comm_.get(), mail.sent.handle()),
            "MPI_Isend");
  }
}

bool MpiHeartbeatTable::all_left_here() const {
  return std::ranges::all_of(topology_.local_ranks(),
                             [this](int rank) { return cell(rank).left > 0; });
}

/// A host that has not told its last goes on to send, and is to be received.
bool MpiHeartbeatTable::carries() const {
  return !mails_.empty() && !(all_left() && std::ranges::all_of(mails_, &Mail::told));
}

std::vector<std::byte> MpiHeartbeatTable::pack() const {
  FailureCopy failure;
  if (HeartbeatTable::failure().written()) {
    failure.state = 1;
    failure.type = HeartbeatTable::failure().type;
    failure.rank = HeartbeatTable::failure().rank;
    std::memcpy(failure.text, HeartbeatTable::failure().text, sizeof failure.text);
  }
  const std::vector<int>& ranks = topology_.local_ranks();
  std::vector<std::byte> packet(sizeof failure + ranks.size() * sizeof(Line));
  std::memcpy(packet.data(), &failure, sizeof failure);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const HeartbeatCell& from = cell(ranks[i]);
    Line line;
    line.rank = ranks[i];
    line.busy = from.busy;
    line.left = from.left;
    line.ended = from.ended;
    line.kind = from.kind;
    line.launched = from.launched;
    line.finished = from.finished;
    line.beats = from.beats;
    line.elsewhere = from.elsewhere;
    copy_text(line.label, from.label.load());
    copy_text(line.activity, from.activity.load());
    std::memcpy(packet.data() + sizeof failure + i * sizeof line, &line, sizeof line);
  }
  return packet;
}

void MpiHeartbeatTable::unpack(const std::vector<std::byte>& packet) const {
  FailureCopy failure;
  std::memcpy(&failure, packet.data(), sizeof failure);
  if (failure.state != 0) {
    HeartbeatTable::failure().write(failure.type, failure.rank, failure.text);
  }
  for (std::size_t at = sizeof failure; at + sizeof(Line) <= packet.size(); at += sizeof(Line)) {
    Line line;
    std::memcpy(&line, packet.data() + at, sizeof line);
    HeartbeatCell& to = cell(line.rank);
    to.busy = line.busy;
    to.kind = static_cast<std::uint8_t>(line.kind);
    to.finished = line.finished;
    to.elsewhere = line.elsewhere;
    to.label.store(line.label.data());
    to.activity.store(line.activity.data());
    to.launched = line.launched;
    to.beats = line.beats;
    to.left = line.left;  // after what it launched
    to.ended = line.ended;
  }
}

}  // namespace tessera::dist::mpi
