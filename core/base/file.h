// The seam to files: everything that Tessera reads from or writes to disk goes through a
// FileSystem.
//
// The real one calls the operating system; the simulated one
// (tests/support/simulated_file_system.h) keeps files in memory and loses, at a crash, whatever was
// not synced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tessera {

/// An open file. Closing happens in the destructor; what must be known to be on disk is synced
/// first. All members throw IoError naming the path and the system's own words.
class File {
 public:
  virtual ~File() = default;
  /// Fills `bytes` from `offset` on; returns how many were read, fewer only at the file's end.
  virtual std::size_t read_at(std::span<std::byte> bytes, std::uint64_t offset) = 0;
  /// Writes all of `bytes` at `offset`, growing the file if need be.
  virtual void write_at(std::span<const std::byte> bytes, std::uint64_t offset) = 0;
  /// Returns when data and size are on stable storage. The name is not: see sync_directory.
  virtual void sync() = 0;
  [[nodiscard]] virtual std::uint64_t size() = 0;
  virtual void resize(std::uint64_t size) = 0;
};

enum class FileKind { missing, regular, directory, link, other };

struct OpenOptions {
  bool create = false;  ///< for writing: made if missing, emptied if there; else for reading
  /// Go round the page cache where the file system can and address, offset and size are multiples
  /// of `kDirectAlignment`; other transfers go through the cache.
  bool direct = false;
};

inline constexpr std::size_t kDirectAlignment = 4096;

struct DirectoryEntry {
  std::string name;
  FileKind kind = FileKind::other;
};

/// What Tessera asks of a file system. All members throw IoError naming the path.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  [[nodiscard]] virtual std::unique_ptr<File> open(const std::string& path,
                                                   const OpenOptions& options) = 0;
  /// What `path` is; a link is followed if `follow`, and one that leads nowhere is missing.
  [[nodiscard]] virtual FileKind kind(const std::string& path, bool follow = true) = 0;
  /// Entries without "." and "..", sorted by the bytes of their names; links are not followed.
  [[nodiscard]] virtual std::vector<DirectoryEntry> list(const std::string& directory) = 0;
  virtual void make_directory(const std::string& path) = 0;
  virtual void remove_file(const std::string& path) = 0;
  virtual void remove_directory(const std::string& path) = 0;  ///< an empty one
  /// Gives `from` the name `to`, in one step; a file or an empty directory at `to` is replaced.
  virtual void rename(const std::string& from, const std::string& to) = 0;
  /// Swaps what the two names stand for, in one step; false, and nothing done, where it cannot.
  [[nodiscard]] virtual bool exchange(const std::string& a, const std::string& b) = 0;
  /// Returns when the entries of `directory` are on stable storage.
  virtual void sync_directory(const std::string& directory) = 0;
};

/// The operating system's files.
[[nodiscard]] FileSystem& real_file_system();

/// The calling thread's file system: the real one unless a FileSystemScope says otherwise. A thread
/// that works for another takes the other's along.
[[nodiscard]] FileSystem& file_system();

/// Makes `files` the calling thread's file system until the scope ends.
class FileSystemScope {
 public:
  explicit FileSystemScope(FileSystem& files);
  ~FileSystemScope();
  FileSystemScope(const FileSystemScope&) = delete;
  FileSystemScope& operator=(const FileSystemScope&) = delete;

 private:
  FileSystem* previous_;
};

/// directory + "/" + name, without doubling the slash.
[[nodiscard]] std::string join_path(const std::string& directory, const std::string& name);
/// The directory that holds `path`: "." for a bare name, "/" for what lies in the root.
[[nodiscard]] std::string parent_path(const std::string& path);

/// The whole of a file as bytes.
[[nodiscard]] std::string read_file(const std::string& path);
/// Makes `path` hold `bytes`, and syncs it; not in one step.
void write_file(const std::string& path, std::span<const std::byte> bytes);
/// Makes `path` and its missing parents, each one's name synced.
void make_directories(const std::string& path);
/// Removes `path` and all below it, if it is there; links are removed and not followed.
void remove_tree(const std::string& path);

}  // namespace tessera
