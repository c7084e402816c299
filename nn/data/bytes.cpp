#include <tessera/nn/data/bytes.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include <tessera/core/base/error.h>
#include <tessera/core/base/file.h>
#include <tessera/core/base/hash.h>

namespace tessera::nn {
namespace {

static_assert(std::endian::native == std::endian::little, "token files are little-endian");

void collect_files(const std::string& folder, const std::string& prefix,
                   std::vector<std::string>& names) {
  for (const DirectoryEntry& entry : file_system().list(join_path(folder, prefix))) {
    const std::string name = prefix.empty() ? entry.name : join_path(prefix, entry.name);
    if (entry.kind == FileKind::directory) {
      collect_files(folder, name, names);
    } else if (entry.kind == FileKind::regular) {
      names.push_back(name);
    }
  }
}

std::string read_folder(const std::string& folder) {
  std::vector<std::string> names;
  collect_files(folder, "", names);
  std::ranges::sort(names);
  check(!names.empty(), "data: the folder '", folder, "' holds no regular file");
  std::string text = read_file(join_path(folder, names.front()));
  for (std::size_t i = 1; i < names.size(); ++i) {
    text += '\n';
    text += read_file(join_path(folder, names[i]));
  }
  return text;
}

FileKind kind_of_data(const std::string& path) {
  const FileKind kind = file_system().kind(path);
  check<IoError>(kind != FileKind::missing, "data: there is no file or folder '", path, "'");
  check<IoError>(kind == FileKind::regular || kind == FileKind::directory, "data: '", path,
                 "' is neither a file nor a folder");
  return kind;
}

}  // namespace

std::string read_text(const std::string& path) {
  const bool folder = kind_of_data(path) == FileKind::directory;
  std::string text = folder ? read_folder(path) : read_file(path);
  check(!text.empty(), "data: '", path, "' is empty");
  return text;
}

std::vector<std::uint16_t> read_tokens(const std::string& path) {
  check<IoError>(kind_of_data(path) == FileKind::regular, "data: '", path,
                 "' is a folder; expected a file of 16-bit tokens");
  const std::string bytes = read_file(path);
  check(!bytes.empty(), "data: '", path, "' is empty");
  check(bytes.size() % sizeof(std::uint16_t) == 0, "data: '", path, "' holds ", bytes.size(),
        " bytes; expected an even number, two for each token");
  std::vector<std::uint16_t> tokens(bytes.size() / sizeof(std::uint16_t));
  std::memcpy(tokens.data(), bytes.data(), bytes.size());
  return tokens;
}

DataIdentity identify_data(const std::string& text) {
  return {text.size(), hash_bytes(std::as_bytes(std::span(text)))};
}

DataIdentity identify_data(const std::vector<std::uint16_t>& tokens) {
  const auto bytes = std::as_bytes(std::span(tokens));
  return {bytes.size(), hash_bytes(bytes)};
}

}  // namespace tessera::nn
