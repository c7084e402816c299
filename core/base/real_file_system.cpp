// Files by the operating system's calls.
#include <tessera/core/base/file.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <tessera/core/base/error.h>
#include <tessera/core/base/system_call.h>

namespace tessera {
namespace {

using posix::Descriptor;
using posix::require;
using posix::retry;

Descriptor open_descriptor(const std::string& path, int flags) {
  return Descriptor(retry([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0666); }));
}

bool is_aligned(const void* memory, std::size_t size, std::uint64_t offset) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  return (address | size | offset) % kDirectAlignment == 0;
}

class RealFile final : public File {
 public:
  RealFile(std::string path, const OpenOptions& options) : path_(std::move(path)) {
    const int flags = options.create ? O_RDWR | O_CREAT | O_TRUNC : O_RDONLY;
    cached_ = open_descriptor(path_, flags);
    require(cached_.valid(), "open", path_);
    if (options.direct) {
      direct_ = open_descriptor(path_, (options.create ? O_RDWR : O_RDONLY) | O_DIRECT);
    }
  }

  std::size_t read_at(std::span<std::byte> bytes, std::uint64_t offset) override {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const std::size_t got = read_some(bytes.subspan(done), offset + done);
      if (got == 0) {
        break;
      }
      done += got;
    }
    return done;
  }

  void write_at(std::span<const std::byte> bytes, std::uint64_t offset) override {
    std::size_t done = 0;
    while (done < bytes.size()) {
      done += write_some(bytes.subspan(done), offset + done);
    }
  }

  void sync() override {
    require(retry([&] { return ::fsync(cached_.get()); }) == 0, "sync", path_);
  }

  std::uint64_t size() override {
    struct stat status {};
    require(::fstat(cached_.get(), &status) == 0, "size", path_);
    return static_cast<std::uint64_t>(status.st_size);
  }

  void resize(std::uint64_t size) override {
    const auto length = static_cast<off_t>(size);
    require(retry([&] { return ::ftruncate(cached_.get(), length); }) == 0, "resize", path_);
  }

 private:
  std::size_t read_some(std::span<std::byte> bytes, std::uint64_t offset) {
    return transfer("read", bytes, offset, [](int fd, std::span<std::byte> part, off_t at) {
      return ::pread(fd, part.data(), part.size(), at);
    });
  }

  std::size_t write_some(std::span<const std::byte> bytes, std::uint64_t offset) {
    return transfer("write", bytes, offset, [](int fd, std::span<const std::byte> part, off_t at) {
      return ::pwrite(fd, part.data(), part.size(), at);
    });
  }

  template <class Bytes, class Call>
  std::size_t transfer(const char* op, Bytes bytes, std::uint64_t offset, Call call) {
    const auto at = static_cast<off_t>(offset);
    if (direct_.valid() && is_aligned(bytes.data(), bytes.size(), offset)) {
      const ssize_t done = retry([&] { return call(direct_.get(), bytes, at); });
      if (done >= 0) {
        return static_cast<std::size_t>(done);
      }
      require(errno == EINVAL, op, path_);  // EINVAL: the file system wants other alignments
    }
    const ssize_t done = retry([&] { return call(cached_.get(), bytes, at); });
    require(done >= 0, op, path_);
    return static_cast<std::size_t>(done);
  }

  std::string path_;
  Descriptor cached_;
  Descriptor direct_;
};

FileKind kind_of_mode(mode_t mode) {
  if (S_ISREG(mode)) {
    return FileKind::regular;
  }
  if (S_ISDIR(mode)) {
    return FileKind::directory;
  }
  return S_ISLNK(mode) ? FileKind::link : FileKind::other;
}

class RealFileSystem final : public FileSystem {
 public:
  std::unique_ptr<File> open(const std::string& path, const OpenOptions& options) override {
    return std::make_unique<RealFile>(path, options);
  }

  FileKind kind(const std::string& path, bool follow) override {
    struct stat status {};
    const int result = follow ? ::stat(path.c_str(), &status) : ::lstat(path.c_str(), &status);
    if (result != 0) {
      require(errno == ENOENT || errno == ENOTDIR, "stat", path);
      return FileKind::missing;
    }
    return kind_of_mode(status.st_mode);
  }

  std::vector<DirectoryEntry> list(const std::string& directory) override {
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(directory.c_str()), ::closedir);
    require(stream != nullptr, "list", directory);
    std::vector<DirectoryEntry> entries;
    errno = 0;
    while (const dirent* entry = ::readdir(stream.get())) {
      const std::string name = entry->d_name;
      if (name != "." && name != "..") {
        entries.push_back({name, kind(join_path(directory, name), false)});
      }
      errno = 0;
    }
    require(errno == 0, "list", directory);
    std::ranges::sort(entries, {}, &DirectoryEntry::name);
    return entries;
  }

  void make_directory(const std::string& path) override {
    require(::mkdir(path.c_str(), 0777) == 0, "make directory", path);
  }
  void remove_file(const std::string& path) override {
    require(::unlink(path.c_str()) == 0, "remove", path);
  }
  void remove_directory(const std::string& path) override {
    require(::rmdir(path.c_str()) == 0, "remove directory", path);
  }
  void rename(const std::string& from, const std::string& to) override {
    require(::rename(from.c_str(), to.c_str()) == 0, "rename", from + "' to '" + to);
  }

  bool exchange(const std::string& a, const std::string& b) override {
    if (::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) {
      return true;
    }
    require(errno == EINVAL || errno == ENOSYS || errno == ENOTSUP, "exchange", a + "' and '" + b);
    return false;
  }

  void sync_directory(const std::string& directory) override {
    const Descriptor descriptor = open_descriptor(directory, O_RDONLY | O_DIRECTORY);
    require(descriptor.valid(), "sync directory", directory);
    const int result = retry([&] { return ::fsync(descriptor.get()); });
    require(result == 0 || errno == EINVAL, "sync directory", directory);  // EINVAL: not supported
  }
};

}  // namespace

FileSystem& real_file_system() {
  static RealFileSystem files;
  return files;
}

}  // namespace tessera
