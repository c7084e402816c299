// Owned HDF5 identifiers, and HDF5's failures as exceptions.
#pragma once

#define H5_USE_110_API  // the calls of 1.10, in newer versions too
#include <hdf5.h>

#include <string>
#include <utility>

#include <tessera/core/base/error.h>

namespace tessera::nn {

/// One reference to an HDF5 object of any kind; dropped when the handle goes.
class Hdf5Handle {
 public:
  Hdf5Handle() = default;
  explicit Hdf5Handle(hid_t id) noexcept : id_(id) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Hdf5Handle() { (void)close(); }

  /// Drops the reference now; negative if HDF5 could not finish what was left to do.
  int close() noexcept {
    const hid_t id = std::exchange(id_, -1);
    return id >= 0 ? H5Idec_ref(id) : 0;
  }
  [[nodiscard]] hid_t get() const noexcept { return id_; }
  operator hid_t() const noexcept { return id_; }

 private:
  hid_t id_ = -1;
};

/// Keeps HDF5 from printing its errors while it lives; they become exceptions.
class Hdf5Quiet {
 public:
  Hdf5Quiet();
  ~Hdf5Quiet();
  Hdf5Quiet(const Hdf5Quiet&) = delete;
  Hdf5Quiet& operator=(const Hdf5Quiet&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

/// What HDF5 says about the innermost cause of its last failure, after "; HDF5 says: "; empty when
/// it says nothing.
[[nodiscard]] std::string hdf5_error_text();

/// Passes a result of HDF5 on, unless it is negative: then throws IoError "`op`: `what`; ...".
template <class T>
T hdf5_check(T result, const char* op, const std::string& what) {
  if (result < 0) {
    fail<IoError>(op, ": ", what, hdf5_error_text());
  }
  return result;
}

/// Checks a new identifier as hdf5_check does; the handle then owns it.
inline Hdf5Handle hdf5_own(hid_t id, const char* op, const std::string& what) {
  return Hdf5Handle(hdf5_check(id, op, what));
}

}  // namespace tessera::nn
