#include "support/replay.h"

#include <tessera/dist/comm/validate.h>

namespace tessera::bench {

Replay::Replay(std::shared_ptr<dist::Communicator> inner, std::shared_ptr<std::vector<Call>> calls)
    : CommDecorator(inner), group_(std::move(inner)), calls_(std::move(calls)) {}

std::shared_ptr<dist::Communicator> Replay::wrap(std::shared_ptr<dist::Communicator> part) {
  return std::shared_ptr<Replay>(new Replay(std::move(part), calls_));
}

dist::Work Replay::start(dist::Collective&& c) {
  Call call{.comm = group_, .collective = c};
  const dist::Operand& memory = c.receive ? c.receive : c.send;
  if (memory && !memory.storage()) {
    const std::size_t element = size_of(c.dtype);
    call.send =
        std::make_shared<std::vector<std::byte>>(dist::send_count(c, rank(), size()) * element);
    call.receive =
        std::make_shared<std::vector<std::byte>>(dist::receive_count(c, size()) * element);
    call.collective.receive =
        dist::Operand(call.receive->data(), call.receive->size(), call.receive);
    call.collective.send = c.send == c.receive
                               ? call.collective.receive
                               : dist::Operand(call.send->data(), call.send->size(), call.send);
  }
  calls_->push_back(std::move(call));
  return group_->start(std::move(c));
}

void Replay::again() {
  std::vector<dist::Work> works;
  for (const Call& call : *calls_) {
    works.push_back(call.comm->launch(call.collective));
  }
  for (const dist::Work& work : works) {
    work.wait();
  }
}

}  // namespace tessera::bench
