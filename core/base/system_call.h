// The calls of the operating system, with exceptions.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <tessera/core/base/error.h>

namespace tessera::posix {

/// Throws IoError with the words for `errno` unless `holds`: "op: 'what': words".
inline void require(bool holds, const char* op, const std::string& what) {
  if (!holds) {
    const int number = errno;
    fail<IoError>(op, ": '", what, "': ", std::strerror(number));
  }
}

/// Repeats a call that a signal interrupted.
template <class Call>
auto retry(Call&& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) {
    result = call();
  }
  return result;
}

/// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) {
      ::close(number_);
    }
  }
  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] bool valid() const noexcept { return number_ >= 0; }

 private:
  int number_ = -1;
};

}  // namespace tessera::posix
