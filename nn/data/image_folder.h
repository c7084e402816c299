// Pictures sorted into folders, one a class.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tessera/nn/data/dataset.h>
#include <tessera/nn/io/image.h>

namespace tessera::data {

struct ImageFolderOptions {
  nn::ImageMode mode = nn::ImageMode::rgb;
};

/// root/CLASS/.../NAME.png: a sample is a picture, u8 (channels, height, width), and the number of
/// its class. Classes are the folders in root, sorted by name and numbered from 0, and samples the
/// files below them that end in .png, .ppm, .pgm or .pnm, in any case of letters, sorted by path
/// inside a class (as torchvision.datasets.ImageFolder). Links to files are followed, links to
/// folders below a class are not. A picture is read when it is asked for; read_image says how.
class ImageFolder final : public Dataset<std::pair<Tensor, std::int64_t>> {
 public:
  /// Throws IoError when `root` cannot be read, and InvalidArgument naming the folder when it holds
  /// no class or a class holds no picture.
  explicit ImageFolder(std::string root, const ImageFolderOptions& options = {});

  [[nodiscard]] std::int64_t size() const override;
  [[nodiscard]] Sample get(std::int64_t index) const override;
  /// Depends on the names of classes and files, not on what the files hold.
  [[nodiscard]] DatasetFacts facts() const override;

  [[nodiscard]] const std::string& root() const { return files_->root; }
  [[nodiscard]] const std::vector<std::string>& classes() const { return files_->classes; }
  [[nodiscard]] const std::map<std::string, std::int64_t>& class_to_idx() const {
    return files_->class_to_idx;
  }
  /// The class of each sample.
  [[nodiscard]] const std::vector<std::int64_t>& targets() const { return files_->targets; }
  /// The file of each sample, from `root` on.
  [[nodiscard]] const std::vector<std::string>& paths() const { return files_->paths; }

 private:
  struct Files {
    std::string root;
    std::vector<std::string> classes;
    std::map<std::string, std::int64_t> class_to_idx;
    std::vector<std::int64_t> targets;
    std::vector<std::string> paths;
  };
  static void add_class(Files& files, const std::string& name);

  std::shared_ptr<const Files> files_;
  ImageFolderOptions options_;
};

}  // namespace tessera::data
