#include <tessera/nn/io/replace_file.h>

#include <exception>

#include <tessera/core/base/error.h>
#include <tessera/core/base/file.h>

namespace tessera::nn {
namespace {

/// A name beside `path` that begins with a dot. What a crash left there is overwritten.
std::string name_beside(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  check<IoError>(!name.empty(), "save: '", path, "' names no file");
  return join_path(parent_path(path), "." + name + ".new");
}

/// As far as possible: what made it necessary is what callers must hear of.
void try_to_remove(const std::string& path) {
  try {
    file_system().remove_file(path);
  } catch (const IoError&) {
  }
}

}  // namespace

void replace_file(const std::string& path,
                  const std::function<void(const std::string& fresh)>& write) {
  const std::string fresh = name_beside(path);
  make_directories(parent_path(path));
  try {
    write(fresh);
    file_system().rename(fresh, path);
  } catch (const std::exception&) {
    try_to_remove(fresh);
    throw;
  }
  file_system().sync_directory(parent_path(path));
}

}  // namespace tessera::nn
