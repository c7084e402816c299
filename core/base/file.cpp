#include <tessera/core/base/file.h>

#include <utility>

#include <tessera/core/base/error.h>

namespace tessera {
namespace {

FileSystem*& current_file_system() {
  thread_local FileSystem* current = &real_file_system();
  return current;
}

}  // namespace

FileSystem& file_system() {
  return *current_file_system();
}

FileSystemScope::FileSystemScope(FileSystem& files)
    : previous_(std::exchange(current_file_system(), &files)) {}

FileSystemScope::~FileSystemScope() {
  current_file_system() = previous_;
}

std::string join_path(const std::string& directory, const std::string& name) {
  return directory.empty() || directory.back() == '/' ? directory + name : directory + "/" + name;
}

std::string parent_path(const std::string& path) {
  std::size_t end = path.find_last_not_of('/');
  end = end == std::string::npos ? end : path.rfind('/', end);
  if (end == std::string::npos) {
    return path.starts_with('/') ? "/" : ".";
  }
  end = path.find_last_not_of('/', end);
  return end == std::string::npos ? "/" : path.substr(0, end + 1);
}

std::string read_file(const std::string& path) {
  const auto file = file_system().open(path, {});
  std::string bytes(file->size(), '\0');
  const std::size_t got = file->read_at(std::as_writable_bytes(std::span(bytes)), 0);
  check<IoError>(got == bytes.size(), "read: '", path, "' shrank while it was read; got ", got,
                 " bytes, expected ", bytes.size());
  return bytes;
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  const auto file = file_system().open(path, {.create = true});
  file->write_at(bytes, 0);
  file->sync();
}

void make_directories(const std::string& path) {
  FileSystem& files = file_system();
  const FileKind kind = files.kind(path);
  if (kind == FileKind::directory) {
    return;
  }
  check<IoError>(kind == FileKind::missing, "make directory: '", path,
                 "' is there and is no directory");
  const std::string parent = parent_path(path);
  make_directories(parent);
  files.make_directory(path);
  files.sync_directory(parent);
}

void remove_tree(const std::string& path) {
  FileSystem& files = file_system();
  const FileKind kind = files.kind(path, false);
  if (kind == FileKind::missing) {
    return;
  }
  if (kind != FileKind::directory) {
    files.remove_file(path);
    return;
  }
  for (const DirectoryEntry& entry : files.list(path)) {
    remove_tree(join_path(path, entry.name));
  }
  files.remove_directory(path);
}

}  // namespace tessera
