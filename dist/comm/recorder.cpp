#include <tessera/dist/comm/recorder.h>

#include <algorithm>
#include <utility>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/health.h>

namespace tessera::dist {
namespace {

std::string outcome(const Work& work) {
  if (!work.done()) {
    return "under way";
  }
  const std::exception_ptr error = work.state()->error();
  return error ? text_of(error)
               : detail::concat(static_cast<double>(work.duration().count()) * 1e-3, " us");
}

}  // namespace

Recorder::Recorder(std::shared_ptr<Communicator> inner, std::size_t capacity)
    : Recorder(std::move(inner), std::make_shared<Ring>(capacity)) {
  check(capacity >= 1, "recorder: no capacity; got 0, expected at least 1");
}

Work Recorder::start(Collective&& c) {
  Entry entry{0, name(), signature_of(c), {}};
  entry.work = inner().start(std::move(c));
  Work work = entry.work;
  const std::lock_guard lock(ring_->mutex);
  entry.number = ++ring_->launched;
  if (ring_->entries.size() < ring_->capacity) {
    ring_->entries.push_back(std::move(entry));
  } else {
    ring_->entries[(ring_->launched - 1) % ring_->capacity] = std::move(entry);
  }
  return work;
}

std::vector<Recorder::Entry> Recorder::entries() const {
  const std::lock_guard lock(ring_->mutex);
  std::vector<Entry> sorted = ring_->entries;
  std::ranges::sort(sorted, {}, &Entry::number);
  return sorted;
}

std::string Recorder::report() const {
  std::string text;
  for (const Entry& entry : entries()) {
    text += detail::concat(entry.number, " ", entry.group, ": ", entry.signature.to_string(), ": ",
                           outcome(entry.work), "\n");
  }
  return text;
}

std::shared_ptr<Communicator> Recorder::wrap(std::shared_ptr<Communicator> part) {
  return std::shared_ptr<Communicator>(new Recorder(std::move(part), ring_));
}

}  // namespace tessera::dist
