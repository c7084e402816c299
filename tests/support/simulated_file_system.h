// Files in memory that can lose power: what was not synced is lost, in the worst or in a random
// way.
//
// A write is durable after `sync` on its file, a name after `sync_directory` on its directory. The
// surviving part of what was not synced is anything: nothing, all, any subset of the writes and
// name changes, writes torn at 512 bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <tessera/core/base/file.h>

namespace tessera {

/// Thrown by the operation at which power is lost, and by every later one until `reboot`. Not an
/// Error: nothing may handle it but the test that asked for it.
struct SimulatedCrash {};

/// What of the unsynced work a reboot finds.
enum class Survivors { none, all, random };

class SimulatedFileSystem final : public FileSystem {
 public:
  SimulatedFileSystem();
  ~SimulatedFileSystem() override;

  std::unique_ptr<File> open(const std::string& path, const OpenOptions& options) override;
  FileKind kind(const std::string& path, bool follow = true) override;
  std::vector<DirectoryEntry> list(const std::string& directory) override;
  void make_directory(const std::string& path) override;
  void remove_file(const std::string& path) override;
  void remove_directory(const std::string& path) override;
  void rename(const std::string& from, const std::string& to) override;
  bool exchange(const std::string& a, const std::string& b) override;
  void sync_directory(const std::string& directory) override;

  /// Operations so far that change or sync something.
  [[nodiscard]] std::uint64_t operations() const;
  /// Power is lost just before operation number `operation`, counted as `operations` counts.
  void crash_before(std::uint64_t operation);
  /// Operation number `operation` throws IoError and does nothing.
  void fail_at(std::uint64_t operation);
  /// Bytes that all files together may hold; a write beyond throws IoError as a full disk does.
  void set_capacity(std::uint64_t bytes);
  /// Whether `exchange` works; it does at first.
  void set_exchange_supported(bool supported);
  /// Starts again after a crash, or pulls the plug now. `seed` picks among random survivors.
  void reboot(Survivors survivors, std::uint64_t seed = 0);
  /// Flips the bits of `mask` in one byte, behind everybody's back.
  void damage(const std::string& path, std::uint64_t offset, unsigned char mask);

  struct Node;

 private:
  friend class SimulatedFile;
  struct Place {
    std::shared_ptr<Node> directory;
    std::string name;
  };

  std::shared_ptr<Node> find(const std::string& path) const;
  std::shared_ptr<Node> find_existing(const char* op, const std::string& path) const;
  Place place_of(const char* op, const std::string& path) const;
  void begin(const char* op, const std::string& path);
  void alive() const;
  void reserve(const std::string& path, std::uint64_t more);
  void remove_entry(const char* op, const std::string& path, FileKind kind);

  mutable std::recursive_mutex mutex_;
  std::shared_ptr<Node> root_;
  std::uint64_t operations_ = 0;
  std::uint64_t boots_ = 0;
  std::uint64_t used_ = 0;
  std::uint64_t capacity_ = UINT64_MAX;
  std::optional<std::uint64_t> crash_before_;
  std::optional<std::uint64_t> fail_at_;
  bool exchange_supported_ = true;
  bool crashed_ = false;
};

}  // namespace tessera
