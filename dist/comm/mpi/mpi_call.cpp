#include <tessera/dist/comm/mpi/mpi_call.h>

#include <array>
#include <mutex>
#include <string>
#include <utility>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/backoff.h>

namespace tessera::dist::mpi {

void require(int code, const char* call) {
  if (code == MPI_SUCCESS) {
    return;
  }
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  fail<CommError>(call, ": ", std::string(text.data(), static_cast<std::size_t>(length)));
}

CommHandle::CommHandle(MPI_Comm handle) : handle_(handle) {
  MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN);
}

CommHandle::CommHandle(CommHandle&& other) noexcept
    : handle_(std::exchange(other.handle_, MPI_COMM_NULL)) {}

CommHandle& CommHandle::operator=(CommHandle&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}

CommHandle::~CommHandle() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (handle_ != MPI_COMM_NULL && finalized == 0) {
    // MPI_Comm_free is collective, and a peer may be gone: the handle is left to MPI_Finalize.
    handle_ = MPI_COMM_NULL;
  }
}

CommHandle CommHandle::duplicate(MPI_Comm comm) {
  MPI_Comm copy = MPI_COMM_NULL;
  require(MPI_Comm_dup(comm, &copy), "MPI_Comm_dup");
  return CommHandle(copy);
}

CommHandle CommHandle::split(MPI_Comm comm, int color, int key) {
  MPI_Comm part = MPI_COMM_NULL;
  require(MPI_Comm_split(comm, color, key, &part), "MPI_Comm_split");
  return CommHandle(part);
}

CommHandle CommHandle::split_by_host(MPI_Comm comm) {
  MPI_Comm part = MPI_COMM_NULL;
  require(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank_in(comm), MPI_INFO_NULL, &part),
          "MPI_Comm_split_type");
  return CommHandle(part);
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  require(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}

int ranks_in(MPI_Comm comm) {
  int ranks = 0;
  require(MPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  return ranks;
}

namespace {
std::mutex leaving;  ///< held by who leaves MPI, and by who must not be in a call of it then
}

void finalize() noexcept {
  const std::lock_guard lock(leaving);
  MPI_Finalize();
}

void unless_left(const std::function<void()>& calls) {
  const std::unique_lock lock(leaving, std::try_to_lock);
  int left = 1;
  if (lock.owns_lock()) {
    MPI_Finalized(&left);
  }
  if (left == 0) {
    calls();
  }
}

void wait(MPI_Request& request) {
  Backoff backoff;
  while (!test_all({&request, 1})) {
    backoff.pause();
  }
}

bool test_all(std::span<MPI_Request> requests) {
  int done = 0;
  require(
      MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
      "MPI_Testall");
  return done != 0;
}

Request::~Request() {
  if (handle_ != MPI_REQUEST_NULL) {
    static auto& kept = *new std::vector<std::shared_ptr<const void>>;  // outlives all threads
    static std::mutex guard;
    const std::lock_guard lock(guard);
    kept.push_back(std::move(memory_));
  }
}

}  // namespace tessera::dist::mpi
