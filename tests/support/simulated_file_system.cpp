#include <algorithm>
#include <random>

#include <tessera/core/base/error.h>

#include "support/simulated_node.h"

namespace tessera {

class SimulatedFile final : public File {
 public:
  SimulatedFile(SimulatedFileSystem& files, std::shared_ptr<SimulatedFileSystem::Node> node,
                std::string path)
      : files_(files), node_(std::move(node)), path_(std::move(path)), boot_(files.boots_) {}

  std::size_t read_at(std::span<std::byte> bytes, std::uint64_t offset) override {
    const std::lock_guard lock(files_.mutex_);
    alive();
    const std::string& held = node_->bytes;
    const std::size_t start = std::min<std::size_t>(offset, held.size());
    const std::size_t count = std::min(bytes.size(), held.size() - start);
    std::copy_n(held.data() + start, count, reinterpret_cast<char*>(bytes.data()));
    return count;
  }

  void write_at(std::span<const std::byte> bytes, std::uint64_t offset) override {
    const std::lock_guard lock(files_.mutex_);
    change("write");
    const std::uint64_t end = offset + bytes.size();
    files_.reserve(path_, end - std::min<std::uint64_t>(end, node_->bytes.size()));
    node_->write({offset, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, false});
  }

  void sync() override {
    const std::lock_guard lock(files_.mutex_);
    change("sync");
    node_->sync();
  }

  std::uint64_t size() override {
    const std::lock_guard lock(files_.mutex_);
    alive();
    return node_->bytes.size();
  }

  void resize(std::uint64_t size) override {
    const std::lock_guard lock(files_.mutex_);
    change("resize");
    files_.reserve(path_, size - std::min<std::uint64_t>(size, node_->bytes.size()));
    node_->write({size, {}, true});
  }

 private:
  void alive() const {
    files_.alive();
    if (boot_ != files_.boots_) {
      throw SimulatedCrash{};  // the program that had this file open is gone
    }
  }
  void change(const char* op) {
    alive();
    files_.begin(op, path_);
  }

  SimulatedFileSystem& files_;
  std::shared_ptr<SimulatedFileSystem::Node> node_;
  std::string path_;
  std::uint64_t boot_;
};

SimulatedFileSystem::SimulatedFileSystem() : root_(std::make_shared<Node>(FileKind::directory)) {}

SimulatedFileSystem::~SimulatedFileSystem() = default;

void SimulatedFileSystem::alive() const {
  if (crashed_) {
    throw SimulatedCrash{};
  }
}

void SimulatedFileSystem::begin(const char* op, const std::string& path) {
  alive();
  const std::uint64_t operation = operations_++;
  if (crash_before_ == operation) {
    crashed_ = true;
    throw SimulatedCrash{};
  }
  check<IoError>(fail_at_ != operation, op, ": '", path, "': Input/output error");
}

void SimulatedFileSystem::reserve(const std::string& path, std::uint64_t more) {
  check<IoError>(more <= capacity_ - std::min(capacity_, used_), "write: '", path,
                 "': No space left on device");
  used_ += more;
}

std::shared_ptr<SimulatedFileSystem::Node> SimulatedFileSystem::find(
    const std::string& path) const {
  std::shared_ptr<Node> node = root_;
  for (std::size_t at = 0; node != nullptr && at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string name = path.substr(at, end - at);
    if (!name.empty() && name != ".") {
      const auto found = node->names.find(name);
      node = found == node->names.end() ? nullptr : found->second;
    }
    at = end + 1;
  }
  return node;
}

std::shared_ptr<SimulatedFileSystem::Node> SimulatedFileSystem::find_existing(
    const char* op, const std::string& path) const {
  auto node = find(path);
  check<IoError>(node != nullptr, op, ": '", path, "': No such file or directory");
  return node;
}

SimulatedFileSystem::Place SimulatedFileSystem::place_of(const char* op,
                                                         const std::string& path) const {
  const std::size_t end = path.find_last_not_of('/') + 1;
  const std::size_t slash = path.rfind('/', end - 1);
  const std::size_t start = slash == std::string::npos ? 0 : slash + 1;
  auto directory = find_existing(op, parent_path(path));
  check<IoError>(directory->kind == FileKind::directory, op, ": '", path, "': Not a directory");
  return {std::move(directory), path.substr(start, end - start)};
}

std::unique_ptr<File> SimulatedFileSystem::open(const std::string& path,
                                                const OpenOptions& options) {
  const std::lock_guard lock(mutex_);
  alive();
  if (options.create) {
    begin("open", path);
    const Place place = place_of("open", path);
    if (const auto there = find(path)) {
      check<IoError>(there->kind == FileKind::regular, "open: '", path, "': Is a directory");
      used_ -= there->bytes.size();
      there->write({0, {}, true});
    } else {
      place.directory->change_names({{place.name, std::make_shared<Node>(FileKind::regular)}});
    }
  }
  auto node = find_existing("open", path);
  check<IoError>(node->kind == FileKind::regular, "open: '", path, "': Is a directory");
  return std::make_unique<SimulatedFile>(*this, std::move(node), path);
}

FileKind SimulatedFileSystem::kind(const std::string& path, bool) {
  const std::lock_guard lock(mutex_);
  alive();
  const auto node = find(path);
  return node == nullptr ? FileKind::missing : node->kind;
}

std::vector<DirectoryEntry> SimulatedFileSystem::list(const std::string& directory) {
  const std::lock_guard lock(mutex_);
  alive();
  std::vector<DirectoryEntry> entries;
  for (const auto& [name, node] : find_existing("list", directory)->names) {
    entries.push_back({name, node->kind});
  }
  return entries;
}

void SimulatedFileSystem::make_directory(const std::string& path) {
  const std::lock_guard lock(mutex_);
  begin("make directory", path);
  const Place place = place_of("make directory", path);
  check<IoError>(find(path) == nullptr, "make directory: '", path, "': File exists");
  place.directory->change_names({{place.name, std::make_shared<Node>(FileKind::directory)}});
}

void SimulatedFileSystem::remove_entry(const char* op, const std::string& path, FileKind kind) {
  const std::lock_guard lock(mutex_);
  begin(op, path);
  const auto node = find_existing(op, path);
  check<IoError>(node->kind == kind, op, ": '", path, "': wrong kind of entry");
  check<IoError>(node->names.empty(), op, ": '", path, "': Directory not empty");
  const Place place = place_of(op, path);
  used_ -= node->bytes.size();
  place.directory->change_names({{place.name, nullptr}});
}

void SimulatedFileSystem::remove_file(const std::string& path) {
  remove_entry("remove", path, FileKind::regular);
}

void SimulatedFileSystem::remove_directory(const std::string& path) {
  remove_entry("remove directory", path, FileKind::directory);
}

void SimulatedFileSystem::rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  begin("rename", from);
  const auto node = find_existing("rename", from);
  const Place source = place_of("rename", from);
  const Place target = place_of("rename", to);
  const auto replaced = find(to);
  check<IoError>(replaced == nullptr || replaced->names.empty(), "rename: '", to,
                 "': Directory not empty");
  if (source.directory == target.directory) {
    source.directory->change_names({{source.name, nullptr}, {target.name, node}});
    return;
  }
  target.directory->change_names({{target.name, node}});  // a crash may keep one of the two
  source.directory->change_names({{source.name, nullptr}});
}

bool SimulatedFileSystem::exchange(const std::string& a, const std::string& b) {
  const std::lock_guard lock(mutex_);
  begin("exchange", a);
  const auto node_a = find_existing("exchange", a);
  const auto node_b = find_existing("exchange", b);
  const Place place_a = place_of("exchange", a);
  const Place place_b = place_of("exchange", b);
  if (!exchange_supported_) {
    return false;
  }
  place_a.directory->change_names({{place_a.name, node_b}, {place_b.name, node_a}});
  return true;
}

void SimulatedFileSystem::sync_directory(const std::string& directory) {
  const std::lock_guard lock(mutex_);
  begin("sync directory", directory);
  find_existing("sync directory", directory)->sync();
}

std::uint64_t SimulatedFileSystem::operations() const {
  const std::lock_guard lock(mutex_);
  return operations_;
}

void SimulatedFileSystem::crash_before(std::uint64_t operation) {
  crash_before_ = operation;
}

void SimulatedFileSystem::fail_at(std::uint64_t operation) {
  fail_at_ = operation;
}

void SimulatedFileSystem::set_capacity(std::uint64_t bytes) {
  capacity_ = bytes;
}

void SimulatedFileSystem::set_exchange_supported(bool supported) {
  exchange_supported_ = supported;
}

void SimulatedFileSystem::reboot(Survivors survivors, std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  std::mt19937_64 random(seed);
  root_->settle(survivors, random);
  used_ = root_->bytes_held();
  crashed_ = false;
  crash_before_.reset();
  ++boots_;
}

void SimulatedFileSystem::damage(const std::string& path, std::uint64_t offset,
                                 unsigned char mask) {
  const std::lock_guard lock(mutex_);
  char& byte = find_existing("damage", path)->bytes.at(offset);
  byte = static_cast<char>(static_cast<unsigned char>(byte) ^ mask);
}

}  // namespace tessera
