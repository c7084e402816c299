#include <tessera/nn/io/hdf5_handle.h>

namespace tessera::nn {

Hdf5Quiet::Hdf5Quiet() {
  H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5Quiet::~Hdf5Quiet() {
  H5Eset_auto2(H5E_DEFAULT, function_, data_);
}

std::string hdf5_error_text() {
  std::string text;
  const auto visit = [](unsigned, const H5E_error2_t* error, void* data) -> herr_t {
    auto& result = *static_cast<std::string*>(data);
    result = error->desc != nullptr ? error->desc : "";
    return result.empty() ? 0 : 1;  // the first one with words is the innermost cause
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, visit, &text);
  return text.empty() ? text : "; HDF5 says: " + text;
}

}  // namespace tessera::nn
