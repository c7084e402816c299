#include <tessera/dist/comm/health.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <tessera/core/base/error.h>

namespace tessera::dist {
namespace {

struct ErrorType {
  bool (*is)(const std::exception&);
  std::exception_ptr (*make)(const std::string&);
};

template <class E>
constexpr ErrorType type_of() {
  return {[](const std::exception& e) { return dynamic_cast<const E*>(&e) != nullptr; },
          [](const std::string& text) { return std::make_exception_ptr(E(text)); }};
}

// The index travels between ranks; derived types come before their base.
constexpr std::array<ErrorType, 10> kTypes{type_of<Timeout>(),      type_of<PeerLost>(),
                                           type_of<Disagreement>(), type_of<Desync>(),
                                           type_of<CommError>(),    type_of<InvalidArgument>(),
                                           type_of<Unsupported>(),  type_of<DeviceError>(),
                                           type_of<IoError>(),      type_of<InternalError>()};
constexpr std::uint32_t kForeign = kTypes.size();

std::uint32_t type_index(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    const auto* found =
        std::ranges::find_if(kTypes, [&e](const ErrorType& type) { return type.is(e); });
    return static_cast<std::uint32_t>(found - kTypes.begin());
  } catch (...) {
    return kForeign;
  }
}

}  // namespace

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception of unknown type";
  }
}

void FailureRecord::write(std::uint32_t new_type, int new_rank,
                          const std::string& new_text) noexcept {
  std::uint32_t none = 0;
  if (!state.compare_exchange_strong(none, 1)) {
    return;
  }
  type = new_type;
  rank = new_rank;
  const std::size_t length = std::min(new_text.size(), kTextSize - 1);
  std::memcpy(text, new_text.data(), length);
  text[length] = '\0';
  state.store(2, std::memory_order_release);
}

std::exception_ptr FailureRecord::exception() const {
  const std::string what = text;
  return type < kForeign ? kTypes[type].make(what) : std::make_exception_ptr(CommError(what));
}

std::exception_ptr Health::cause() const {
  const std::lock_guard lock(mutex_);
  if (shared_->written()) {
    return own_ && is_own() ? own_ : shared_->exception();
  }
  if (own_) {  // another rank, which failed first, is still writing why
    return own_;
  }
  return parent_ != nullptr ? parent_->cause() : nullptr;
}

bool Health::is_own() const noexcept {
  return shared_->written() && shared_->rank == rank_;
}

void Health::fail(const std::exception_ptr& cause) noexcept {
  if (failed()) {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (own_) {
      return;
    }
    own_ = cause;
  }
  shared_->write(type_index(cause), rank_, text_of(cause));
}

void Health::require() const {
  if (failed()) {
    std::rethrow_exception(cause());
  }
}

}  // namespace tessera::dist
