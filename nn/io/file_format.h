// Which format a file of weights has by its bytes.
#pragma once

#include <string>

#include <tessera/nn/io/weights.h>

namespace tessera::nn {

/// Throws IoError naming both formats where the bytes of `path` look like another one than
/// `expected`, or like what torch.save writes, and where there are none. What looks like nothing
/// known is left to the reader, which knows what is wrong with it.
void check_format(const std::string& path, Format expected);

}  // namespace tessera::nn
