#include <tessera/nn/data/image_folder.h>

#include <algorithm>
#include <array>
#include <string_view>

#include <tessera/core/base/error.h>
#include <tessera/core/base/file.h>

namespace tessera::data {
namespace {

bool is_picture(const std::string& name) {
  constexpr std::array<std::string_view, 4> kEndings{".png", ".ppm", ".pgm", ".pnm"};
  std::string lower = name;
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return std::ranges::any_of(kEndings, [&](std::string_view end) { return lower.ends_with(end); });
}

/// Adds the pictures below root/folder as paths from root on.
void collect_pictures(const std::string& root, const std::string& folder,
                      std::vector<std::string>& paths) {
  for (const DirectoryEntry& entry : file_system().list(join_path(root, folder))) {
    const std::string path = join_path(folder, entry.name);
    if (entry.kind == FileKind::directory) {
      collect_pictures(root, path, paths);
    } else if (is_picture(entry.name) &&
               file_system().kind(join_path(root, path)) == FileKind::regular) {
      paths.push_back(path);
    }
  }
}

}  // namespace

ImageFolder::ImageFolder(std::string root, const ImageFolderOptions& options) : options_(options) {
  Files files{
      .root = std::move(root), .classes = {}, .class_to_idx = {}, .targets = {}, .paths = {}};
  check<IoError>(file_system().kind(files.root) == FileKind::directory,
                 "image folder: there is no folder '", files.root, "'");
  for (const DirectoryEntry& entry : file_system().list(files.root)) {
    if (file_system().kind(join_path(files.root, entry.name)) == FileKind::directory) {
      add_class(files, entry.name);
    }
  }
  check(!files.classes.empty(), "image folder: '", files.root,
        "' holds no folders, of which each would be a class");
  files_ = std::make_shared<const Files>(std::move(files));
}

void ImageFolder::add_class(Files& files, const std::string& name) {
  std::vector<std::string> paths;
  collect_pictures(files.root, name, paths);
  check(!paths.empty(), "image folder: '", join_path(files.root, name),
        "' holds no file that ends in .png, .ppm, .pgm or .pnm");
  std::ranges::sort(paths);
  const auto number = std::ssize(files.classes);
  files.classes.push_back(name);
  files.class_to_idx[name] = number;
  files.targets.insert(files.targets.end(), paths.size(), number);
  files.paths.insert(files.paths.end(), paths.begin(), paths.end());
}

std::int64_t ImageFolder::size() const {
  return std::ssize(files_->paths);
}

ImageFolder::Sample ImageFolder::get(std::int64_t index) const {
  check_index("image folder", index, size());
  const auto i = static_cast<std::size_t>(index);
  return {nn::read_image(join_path(files_->root, files_->paths[i]), options_.mode),
          files_->targets[i]};
}

DatasetFacts ImageFolder::facts() const {
  std::uint64_t hash = 0;
  for (const std::string& path : files_->paths) {
    hash = mix(hash, hash_name(path));
  }
  return {{"samples", static_cast<std::uint64_t>(size())}, {"hash of the names", hash}};
}

}  // namespace tessera::data
