#include <tessera/core/device/polled_stream.h>

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace tessera {
namespace {

struct Known {
  std::mutex mutex;
  std::unordered_map<std::uint32_t, std::weak_ptr<PolledStream>> by_number;
  std::vector<std::shared_ptr<PolledStream>> kept;
};

Known& known() {
  static auto& streams = *new Known;  // streams of other statics may end later
  return streams;
}

StreamId next_id() {
  static std::atomic<std::uint32_t> last{0};  // 0 is the stream that runs everything at once
  return {.number = ++last};
}

}  // namespace

PolledStream::PolledStream() : id_(next_id()) {}

PolledStream::~PolledStream() {
  const std::lock_guard lock(known().mutex);
  known().by_number.erase(id_.number);
}

std::shared_ptr<PolledStream> polled_stream(const StreamId& id) {
  const std::lock_guard lock(known().mutex);
  const auto found = known().by_number.find(id.number);
  return found == known().by_number.end() ? nullptr : found->second.lock();
}

void make_known(const std::shared_ptr<PolledStream>& stream) {
  const std::lock_guard lock(known().mutex);
  known().by_number[stream->id().number] = stream;
}

void keep(const std::shared_ptr<PolledStream>& stream) {
  const std::lock_guard lock(known().mutex);
  known().kept.push_back(stream);
}

}  // namespace tessera
