#include <tessera/nn/io/hdf5_driver.h>

#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>  // where newer versions keep the driver interface
#endif

namespace tessera::nn {
namespace {

struct Driver {
  H5FD_t base;  // HDF5 sees only this
  Hdf5Storage* storage;
  haddr_t end;
};

struct Access {
  Hdf5Storage* storage;
};

Driver& driver_of(H5FD_t* file) {
  return *reinterpret_cast<Driver*>(file);
}
const Driver& driver_of(const H5FD_t* file) {
  return *reinterpret_cast<const Driver*>(file);
}

template <class Call>
herr_t guarded(Hdf5Storage& storage, Call&& call) {
  try {
    call();
    return 0;
  } catch (...) {
    if (storage.error == nullptr) {
      storage.error = std::current_exception();
    }
    return -1;
  }
}

H5FD_t* open_driver(const char*, unsigned, hid_t access, haddr_t) {
  const auto* info = static_cast<const Access*>(H5Pget_driver_info(access));
  return info == nullptr ? nullptr : &(new Driver{{}, info->storage, 0})->base;
}

herr_t close_driver(H5FD_t* file) {
  delete &driver_of(file);
  return 0;
}

haddr_t allocate(H5FD_t* file, H5FD_mem_t type, hid_t, hsize_t size) {
  haddr_t place = HADDR_UNDEF;
  Driver& driver = driver_of(file);
  guarded(*driver.storage, [&] {
    place = driver.storage->allocate(type == H5FD_MEM_DRAW, size);
    driver.end = driver.storage->size();
  });
  return place;
}

haddr_t get_end(const H5FD_t* file, H5FD_mem_t) {
  return driver_of(file).end;
}

herr_t set_end(H5FD_t* file, H5FD_mem_t, haddr_t end) {
  Driver& driver = driver_of(file);
  driver.end = end;
  return guarded(*driver.storage, [&] { driver.storage->set_end(end); });
}

haddr_t get_size(const H5FD_t* file, H5FD_mem_t) {
  return driver_of(file).storage->size();
}

herr_t read_bytes(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t offset, size_t size, void* to) {
  Hdf5Storage& storage = *driver_of(file).storage;
  return guarded(storage, [&] { storage.read(offset, {static_cast<std::byte*>(to), size}); });
}

herr_t write_bytes(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t offset, size_t size, const void* from) {
  Hdf5Storage& storage = *driver_of(file).storage;
  return guarded(storage, [&] {
    storage.write(offset, {static_cast<const std::byte*>(from), size});
  });
}

H5FD_class_t make_class() {
  H5FD_class_t result{};
#ifdef H5FD_CLASS_VERSION
  result.version = H5FD_CLASS_VERSION;
  result.value = static_cast<H5FD_class_value_t>(512);  // the range for drivers of programs
#endif
  result.name = "tessera";
  result.maxaddr = HADDR_MAX;
  result.fc_degree = H5F_CLOSE_STRONG;
  result.fapl_size = sizeof(Access);
  result.open = open_driver;
  result.close = close_driver;
  result.alloc = allocate;
  result.get_eoa = get_end;
  result.set_eoa = set_end;
  result.get_eof = get_size;
  result.read = read_bytes;
  result.write = write_bytes;
  for (H5FD_mem_t& kind : result.fl_map) {
    kind = H5FD_MEM_SUPER;  // freed metadata may serve other metadata ...
  }
  result.fl_map[H5FD_MEM_DRAW] = H5FD_MEM_DRAW;  // ... and never raw data
  return result;
}

hid_t driver_id() {
  static const H5FD_class_t description = make_class();
  static const hid_t id = hdf5_check(H5FDregister(&description), "hdf5", "cannot add a driver");
  return id;
}

}  // namespace

Hdf5Handle hdf5_access(Hdf5Storage& storage) {
  Hdf5Handle access = hdf5_own(H5Pcreate(H5P_FILE_ACCESS), "hdf5", "cannot set up access");
  const Access info{&storage};
  hdf5_check(H5Pset_driver(access, driver_id(), &info), "hdf5", "cannot set the driver");
  hdf5_check(H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V110), "hdf5",
             "cannot set the format");
  hdf5_check(H5Pset_fclose_degree(access, H5F_CLOSE_STRONG), "hdf5", "cannot set closing");
  return access;
}

}  // namespace tessera::nn
