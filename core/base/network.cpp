#include <tessera/core/base/network.h>

#include <utility>

#include <tessera/core/base/error.h>

namespace tessera {
namespace {

Network*& current_network() {
  thread_local Network* current = &real_network();
  return current;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Address& address) {
  const bool numbers_of_six = address.host.find(':') != std::string::npos;
  out << (numbers_of_six ? "[" : "") << address.host << (numbers_of_six ? "]" : "");
  return out << ':' << address.port;
}

Network& network() {
  return *current_network();
}

NetworkScope::NetworkScope(Network& network)
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
