// MPI as a way to form a world: registers itself.
#include <cstdlib>
#include <memory>
#include <string>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/backend.h>
#include <tessera/dist/comm/mpi/mpi_communicator.h>
#include <tessera/dist/comm/mpi/mpi_exchange.h>

namespace tessera::dist::mpi {
namespace {

/// Open MPI looks at these when it starts; what a user set stays.
void set_up_open_mpi() {
#if defined(OPEN_MPI)
  // Pieces without a handshake for each, which would stand in line behind the data that already
  // waits for a slow link.
  const std::string bytes = std::to_string(kMessageBytes + kMessageBytes / 16);
  setenv("OMPI_MCA_btl_tcp_eager_limit", bytes.c_str(), 0);
  // No dump of the stack, a screen for each rank, where FatalSignals has a sentence.
  setenv("OMPI_MCA_opal_signal", "", 0);
#endif
}

class MpiBackend final : public Backend {
 public:
  [[nodiscard]] std::string name() const override { return "mpi"; }

  [[nodiscard]] bool launched() const override {
#if defined(OPEN_MPI)
    // mpirun sets the first; any launcher that speaks PMIx, such as srun --mpi=pmix, the second.
    return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr || std::getenv("PMIX_RANK") != nullptr;
#else
    return std::getenv("PMI_SIZE") != nullptr || std::getenv("PMI_RANK") != nullptr ||
           std::getenv("PMIX_RANK") != nullptr;
#endif
  }

  std::shared_ptr<Communicator> connect() override {
    int initialized = 0;
    MPI_Initialized(&initialized);
    owns_ = initialized == 0;
    int provided = MPI_THREAD_SINGLE;
    if (owns_) {
      set_up_open_mpi();
      require(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
    } else {
      MPI_Query_thread(&provided);
    }
    check<Unsupported>(provided == MPI_THREAD_MULTIPLE,
                       "mpi: the library does not let several threads call it; got level ",
                       provided, ", expected MPI_THREAD_MULTIPLE");
    CommHandle world = CommHandle::duplicate(MPI_COMM_WORLD);
    const int rank = world.rank();
    return MpiCommunicator::make(std::move(world), "world", rank, Family{}, {}, nullptr);
  }

  void disconnect() noexcept override {
    int left = 0;
    MPI_Finalized(&left);
    if (owns_ && left == 0) {
      finalize();
    }
  }

  void kill(int exit_code) noexcept override {
    MPI_Abort(MPI_COMM_WORLD, exit_code);
  }

 private:
  bool owns_ = false;
};

const bool kRegistered = register_backend(std::make_unique<MpiBackend>());

}  // namespace
}  // namespace tessera::dist::mpi
