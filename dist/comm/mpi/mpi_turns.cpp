#include <tessera/dist/comm/mpi/mpi_turns.h>

#include <utility>

namespace tessera::dist::mpi {

void Turns::add(const Message& send, Request receive) {
  turns_.push_back({.message = send, .receive = std::move(receive), .send = Request(send.memory)});
  start_sends();
}

void Turns::start_sends() {
  while (started_ < count() && (ahead_bytes_ < kAheadBytes || started_ < received_)) {
    Turn& turn = at(started_);
    const Message& m = turn.message;
    require(MPI_Isend(m.data, static_cast<int>(m.nbytes), MPI_BYTE, m.peer, m.tag, m.comm,
                      turn.send.handle()),
            "MPI_Isend");
    if (started_++ >= received_) {
      ahead_bytes_ += m.nbytes;
    }
  }
}

void Turns::poll() {
  while (received_ < count() && at(received_).receive.done()) {
    if (received_ < started_) {
      ahead_bytes_ -= at(received_).message.nbytes;
    }
    ++received_;
  }
  start_sends();
  while (finished_ < received_ && finished_ < started_ && turns_.front().send.done()) {
    turns_.pop_front();
    ++finished_;
  }
}

bool Turns::received(std::size_t turns) {
  poll();
  return received_ >= turns;
}

bool Turns::finished(std::size_t turns) {
  poll();
  return finished_ >= turns;
}

}  // namespace tessera::dist::mpi
