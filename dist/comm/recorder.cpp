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
    : CommDecorator(std::move(inner)), capacity_(capacity) {
  check(capacity >= 1, "recorder: no capacity; got 0, expected at least 1");
}

Work Recorder::launch(Collective c) {
  Entry entry{0, signature_of(c), {}};
  entry.work = inner().launch(std::move(c));
  Work work = entry.work;
  const std::lock_guard lock(mutex_);
  entry.number = ++launched_;
  if (ring_.size() < capacity_) {
    ring_.push_back(std::move(entry));
  } else {
    ring_[(launched_ - 1) % capacity_] = std::move(entry);
  }
  return work;
}

std::vector<Recorder::Entry> Recorder::entries() const {
  const std::lock_guard lock(mutex_);
  std::vector<Entry> sorted = ring_;
  std::ranges::sort(sorted, {}, &Entry::number);
  return sorted;
}

std::string Recorder::report() const {
  std::string text;
  for (const Entry& entry : entries()) {
    text += detail::concat(entry.number, " ", entry.signature.to_string(), ": ",
                           outcome(entry.work), "\n");
  }
  return text;
}

std::shared_ptr<Communicator> Recorder::wrap(std::shared_ptr<Communicator> part) {
  return std::make_shared<Recorder>(std::move(part), capacity_);
}

}  // namespace tessera::dist
