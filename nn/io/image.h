// Pictures in files.
#pragma once

#include <span>
#include <string>

#include <tessera/core/tensor/tensor.h>

namespace tessera::nn {

enum class ImageMode {
  unchanged,  ///< one channel for grey, three for colour; transparency is dropped
  grey,       ///< one: 0.299 red + 0.587 green + 0.114 blue (ITU-R BT.601)
  rgb,        ///< three: grey is repeated
};

/// The picture in a file as u8 (channels, height, width). The file's first bytes say what it is:
/// binary PGM or PPM (Netpbm), or PNG where the library was built with libpng. Numbers of other
/// widths than eight bits are scaled to [0, 255]. Throws IoError naming the file for what is no
/// picture, is damaged, or claims more pixels than a file of its size can hold, before it takes
/// memory for them; Unsupported for a format that this build cannot read.
[[nodiscard]] Tensor read_image(const std::string& path, ImageMode mode = ImageMode::unchanged);

/// Writes u8 (1 or 3, height, width) as binary PGM or PPM, and syncs.
void write_netpbm(const std::string& path, const Tensor& image);

/// One way of keeping a picture in a file.
struct ImageFormat {
  const char* name;  ///< as in messages: "PNG"
  bool (*recognises)(std::span<const std::byte> bytes);
  /// The picture unchanged. Throws IoError naming `path`.
  Tensor (*decode)(std::span<const std::byte> bytes, const std::string& path);
};

/// Adds a format when the program starts; for the file that implements it.
struct ImageFormatRegistration {
  explicit ImageFormatRegistration(const ImageFormat& format);
};

}  // namespace tessera::nn
