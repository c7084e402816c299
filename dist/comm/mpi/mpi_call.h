// MPI's C interface with exceptions and without spinning.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace tessera::dist::mpi {

/// Throws CommError with MPI's own text unless `code` is success.
void require(int code, const char* call);

[[nodiscard]] int rank_in(MPI_Comm);
[[nodiscard]] int ranks_in(MPI_Comm);

/// A communicator, freed on destruction when MPI is still up. Errors come back as codes.
class CommHandle {
 public:
  CommHandle() = default;
  explicit CommHandle(MPI_Comm handle);
  CommHandle(CommHandle&& other) noexcept;
  CommHandle& operator=(CommHandle&& other) noexcept;
  ~CommHandle();

  [[nodiscard]] static CommHandle duplicate(MPI_Comm);
  [[nodiscard]] static CommHandle split(MPI_Comm, int color, int key);
  /// Ranks of the same host, in the order of `comm`.
  [[nodiscard]] static CommHandle split_by_host(MPI_Comm);

  [[nodiscard]] MPI_Comm get() const { return handle_; }
  [[nodiscard]] int rank() const { return rank_in(handle_); }
  [[nodiscard]] int size() const { return ranks_in(handle_); }

 private:
  MPI_Comm handle_ = MPI_COMM_NULL;
};

/// Leaves MPI. Later calls of `unless_left` do nothing.
void finalize() noexcept;
/// Runs `calls`, on a thread that may outlive MPI: nothing while MPI is left, or afterwards.
void unless_left(const std::function<void()>& calls);

/// Waits for a request with yields and naps between polls.
void wait(MPI_Request& request);
/// True once all are done; they become null then.
[[nodiscard]] bool test_all(std::span<MPI_Request> requests);

/// A request of MPI's, made by a call that gets `handle`, and the memory that it reads or writes.
/// If this goes before the request is done, as it does when a collective fails, the memory stays
/// for good: MPI may still write to it whenever the other side comes.
class Request {
 public:
  explicit Request(std::shared_ptr<const void> memory) : memory_(std::move(memory)) {}
  Request(Request&& other) noexcept
      : memory_(std::move(other.memory_)),
        handle_(std::exchange(other.handle_, MPI_REQUEST_NULL)) {}
  Request& operator=(Request&&) = delete;
  ~Request();

  [[nodiscard]] MPI_Request* handle() { return &handle_; }
  /// True before it was made, too.
  [[nodiscard]] bool done() { return test_all({&handle_, 1}); }

 private:
  std::shared_ptr<const void> memory_;
  MPI_Request handle_ = MPI_REQUEST_NULL;
};

/// Blocking all-gather of one trivially copyable value a rank, for setting things up.
template <class T>
std::vector<T> gather_values(MPI_Comm comm, const T& value) {
  std::vector<T> all(static_cast<std::size_t>(ranks_in(comm)));
  MPI_Request request = MPI_REQUEST_NULL;
  require(
      MPI_Iallgather(&value, sizeof(T), MPI_BYTE, all.data(), sizeof(T), MPI_BYTE, comm, &request),
      "MPI_Iallgather");
  wait(request);
  return all;
}

}  // namespace tessera::dist::mpi
