#include <tessera/core/base/network.h>

#include <utility>

#include <tessera/core/base/error.h>

namespace tessera {
namespace {

HostNetwork*& current_network() {
  thread_local HostNetwork* current = &real_network();
  return current;
}

}  // namespace

std::string to_string(const Address& address) {
  const bool has_colons = address.host.find(':') != std::string::npos;  // numbers of version 6
  const std::string host = has_colons ? "[" + address.host + "]" : address.host;
  return host + ":" + std::to_string(address.port);
}

HostNetwork& network() {
  return *current_network();
}

NetworkScope::NetworkScope(HostNetwork& network)
    : previous_(std::exchange(current_network(), &network)) {}

NetworkScope::~NetworkScope() {
  current_network() = previous_;
}

void receive_all(Connection& connection, std::span<std::byte> bytes, Time deadline) {
  for (std::size_t done = 0; done < bytes.size();) {
    const std::size_t got = connection.receive(bytes.subspan(done), deadline);
    check<IoError>(got > 0, "receive: ", connection.peer(), " ended too early; got ", done,
                   " bytes, expected ", bytes.size());
    done += got;
  }
}

}  // namespace tessera
