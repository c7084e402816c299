#include <tessera/dist/comm/share_text.h>

#include <vector>

#include <tessera/dist/comm/collectives.h>

namespace tessera::dist {

std::string share_text(Communicator& comm, const std::string& text, int root,
                       const std::string& label) {
  std::vector<std::int64_t> length{static_cast<std::int64_t>(text.size())};
  broadcast(comm, std::span(length), root, label).wait();
  std::vector<std::uint8_t> bytes(text.begin(), text.end());
  bytes.resize(static_cast<std::size_t>(length[0]));
  broadcast(comm, std::span(bytes), root, label).wait();
  return {bytes.begin(), bytes.end()};
}

}  // namespace tessera::dist
