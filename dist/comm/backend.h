// The transports that this build has. A transport's files register it; nothing else names them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tessera/dist/comm/communicator.h>

namespace tessera::dist {

/// A way to form a world of processes.
class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// True when this process was started by a launcher that the backend belongs to.
  [[nodiscard]] virtual bool launched() const = 0;
  /// Joins the world. Called once.
  virtual std::shared_ptr<Communicator> connect() = 0;
  /// Leaves it in good order, after the communicators are gone.
  virtual void disconnect() noexcept = 0;
  /// Ends all processes of the world, this one too; the last resort after a failure.
  virtual void kill(int exit_code) noexcept = 0;
};

/// Registers a backend for the life of the process:
///   const bool registered = register_backend(std::make_unique<MyBackend>());
bool register_backend(std::unique_ptr<Backend> backend);
/// Null when the build has none of that name.
[[nodiscard]] Backend* find_backend(const std::string& name);
[[nodiscard]] std::vector<Backend*> all_backends();

}  // namespace tessera::dist
