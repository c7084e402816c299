#include <tessera/core/device/polled_stream.h>

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace tessera {
namespace {

// Note [Streams that end before their tickets]. A ticket lies by value in every storage that its
// work touched, and may be asked for long after the stream's owner, a communicator, is gone.
// Streams are known by weak handles, so that tickets keep none alive; one that is gone has no work
// left, for its owner ends all work first, and its tickets are reached. They must not be where work
// has failed: what it should have written was never written. Such a stream is kept for as long as
// the program runs (`keep`), and its tickets go on throwing the error.

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
