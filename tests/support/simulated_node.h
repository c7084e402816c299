// A file or directory of the simulated file system: what programs see, and what a crash leaves.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/simulated_file_system.h"

namespace tessera {

struct SimulatedFileSystem::Node {
  using Names = std::map<std::string, std::shared_ptr<Node>>;
  using NameChange = std::vector<std::pair<std::string, std::shared_ptr<Node>>>;  // null: removed

  /// A write not synced yet, or, with `resize`, a new size.
  struct Write {
    std::uint64_t offset = 0;
    std::string bytes;
    bool resize = false;
  };

  explicit Node(FileKind what) : kind(what) {}

  void write(Write change);
  void sync();
  void change_names(NameChange change);
  /// Makes what survives a crash what programs see, here and below.
  void settle(Survivors survivors, std::mt19937_64& random);
  /// Bytes of the files here and below.
  [[nodiscard]] std::uint64_t bytes_held() const;

  FileKind kind;
  std::string bytes;
  Names names;

 private:
  static void apply(std::string& target, const Write& write);
  static void apply(Names& target, const NameChange& change);
  void settle_writes(Survivors survivors, std::mt19937_64& random);
  void settle_names(Survivors survivors, std::mt19937_64& random);

  std::string durable_bytes_;
  Names durable_names_;
  std::vector<Write> pending_writes_;
  std::vector<NameChange> pending_names_;
};

}  // namespace tessera
