#include <tessera/nn/io/hdf5_catalog.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <tessera/nn/io/hdf5_attributes.h>
#include <tessera/nn/io/hdf5_types.h>

namespace tessera::nn {
namespace {

constexpr const char* kLoadOp = "load";
constexpr int kDeepestGroup = 32;
constexpr int kMostLinks = 10'000;  // to groups seen before: 64 links can make 2^32 paths
constexpr std::size_t kMostArrays = 1'000'000;  // by name: few bytes can make many more

/// What makes one array unreadable, and nothing else in the file.
class Foreign final : public IoError {
 public:
  using IoError::IoError;
};

class Walk {
 public:
  Walk(const std::string& path, std::uint64_t file_size) : path_(path), file_size_(file_size) {}

  void root(hid_t id);
  Hdf5Catalog result;

 private:
  [[nodiscard]] std::string at(const std::string& name) const {
    return "'" + path_ + "': '" + name + "'";
  }
  [[nodiscard]] std::vector<std::string> names_in(hid_t group, const std::string& name) const;
  void group(hid_t id, const std::string& name, int depth);
  void member(hid_t group, const std::string& link, const std::string& name, int depth);
  void object(hid_t group, const std::string& link, const std::string& name, int depth);
  void dataset(hid_t id, const std::string& name, haddr_t address);
  void attributes(hid_t id, const std::string& name);
  [[nodiscard]] Hdf5TypeMatch type_of(hid_t id, const std::string& name) const;
  void check_filters(hid_t properties, const std::string& name) const;
  void check_stored(hid_t id, const ArrayInfo& info) const;
  [[nodiscard]] Shape shape_of(hid_t id, const std::string& name) const;
  [[nodiscard]] std::optional<std::uint64_t> offset_of(hid_t id, const std::string& name,
                                                       bool exact, std::size_t nbytes) const;

  std::string path_;
  std::uint64_t file_size_;
  std::map<haddr_t, std::string> first_names_;
  std::set<haddr_t> open_groups_;
  std::set<haddr_t> groups_;
  int links_ = 0;  ///< to groups that have another name
};

/// The names in a group, in the order of making where the file kept it, else by name.
std::vector<std::string> Walk::names_in(hid_t group, const std::string& name) const {
  const Hdf5Handle properties =
      hdf5_own(H5Gget_create_plist(group), kLoadOp, at(name) + " cannot be read");
  unsigned order = 0;
  H5Pget_link_creation_order(properties, &order);
  std::vector<std::string> names;
  const auto visit = [](hid_t, const char* link, const H5L_info_t*, void* data) -> herr_t {
    try {
      static_cast<std::vector<std::string>*>(data)->emplace_back(link);
      return 0;
    } catch (...) {
      return -1;
    }
  };
  const bool kept = (order & H5P_CRT_ORDER_INDEXED) != 0;
  hdf5_check(H5Literate(group, kept ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME, H5_ITER_INC, nullptr,
                        visit, &names),
             kLoadOp, at(name) + " cannot be listed");
  return names;
}

void Walk::root(hid_t id) {
  H5O_info_t info;
  hdf5_check(H5Oget_info2(id, &info, H5O_INFO_BASIC), kLoadOp, "'" + path_ + "' cannot be read");
  open_groups_.insert(info.addr);
  group(id, "", 0);
}

void Walk::group(hid_t id, const std::string& name, int depth) {
  attributes(id, name);
  for (const std::string& link : names_in(id, name)) {
    member(id, link, name.empty() ? link : name + "/" + link, depth);
  }
}

void Walk::member(hid_t group_id, const std::string& link, const std::string& name, int depth) {
  check<IoError>(result.arrays.size() < kMostArrays, kLoadOp, ": '", path_,
                 "' has arrays of too many names; expected at most ", kMostArrays);
  try {
    object(group_id, link, name, depth);
  } catch (const Foreign& error) {
    result.arrays.push_back({.path = name, .shape = {}, .target = "", .refusal = error.what()});
    result.offsets.emplace_back();
  }
}

void Walk::object(hid_t group_id, const std::string& link, const std::string& name, int depth) {
  H5L_info_t link_info;
  hdf5_check(H5Lget_info(group_id, link.c_str(), &link_info, H5P_DEFAULT), kLoadOp,
             at(name) + " cannot be read");
  check<Foreign>(link_info.type == H5L_TYPE_HARD, kLoadOp, ": ", at(name),
                 " is a soft or external link; expected an array or group");
  const Hdf5Handle object = hdf5_own(H5Oopen(group_id, link.c_str(), H5P_DEFAULT), kLoadOp,
                                     at(name) + " cannot be opened");
  H5O_info_t info;
  hdf5_check(H5Oget_info2(object, &info, H5O_INFO_BASIC), kLoadOp, at(name) + " cannot be read");
  if (info.type == H5O_TYPE_GROUP) {
    check<Foreign>(depth < kDeepestGroup, kLoadOp, ": ", at(name),
                   " lies too deep; expected at most ", kDeepestGroup, " groups in each other");
    check<Foreign>(open_groups_.insert(info.addr).second, kLoadOp, ": ", at(name),
                   " is a group that contains itself");
    links_ += groups_.insert(info.addr).second ? 0 : 1;
    check<IoError>(links_ <= kMostLinks, kLoadOp, ": '", path_,
                   "' has groups of too many names; expected at most ", kMostLinks, " more");
    group(object, name, depth + 1);
    open_groups_.erase(info.addr);
  } else if (info.type == H5O_TYPE_DATASET) {
    dataset(object, name, info.addr);
  }  // else a type with a name, which holds no data
}

Shape Walk::shape_of(hid_t id, const std::string& name) const {
  const Hdf5Handle space = hdf5_own(H5Dget_space(id), kLoadOp, at(name) + " has no shape");
  check<Foreign>(H5Sget_simple_extent_type(space) != H5S_NULL, kLoadOp, ": ", at(name),
                 " has no shape");
  const int dims =
      hdf5_check(H5Sget_simple_extent_ndims(space), kLoadOp, at(name) + " has no shape");
  check<Foreign>(dims <= kMaxDims, kLoadOp, ": ", at(name), " has too many dims; got ", dims,
                 ", expected at most ", kMaxDims);
  std::vector<hsize_t> sizes(static_cast<std::size_t>(dims));
  hdf5_check(H5Sget_simple_extent_dims(space, sizes.data(), nullptr), kLoadOp,
             at(name) + " has no shape");
  Shape shape;
  double numel = 1;
  for (const hsize_t size : sizes) {
    numel *= static_cast<double>(size);
    shape.push_back(static_cast<std::int64_t>(size));
  }
  check<Foreign>(numel < 0x1p58, kLoadOp, ": ", at(name), " is larger than any memory");
  return shape;
}

/// Refuses arrays of filters that are not here: other programs bring their own.
void Walk::check_filters(hid_t properties, const std::string& name) const {
  for (int i = 0; i < H5Pget_nfilters(properties); ++i) {
    std::array<char, 64> filter{};
    unsigned flags = 0;
    std::size_t values = 0;
    const H5Z_filter_t id = H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &values,
                                           nullptr, filter.size() - 1, filter.data(), nullptr);
    check<Foreign>(H5Zfilter_avail(id) > 0, kLoadOp, ": ", at(name),
                   " is compressed by a filter that is not here; got '", filter.data(), "' (", id,
                   "), expected one that HDF5 brings or finds in HDF5_PLUGIN_PATH");
  }
}

std::optional<std::uint64_t> Walk::offset_of(hid_t id, const std::string& name, bool exact,
                                             std::size_t nbytes) const {
  const Hdf5Handle properties =
      hdf5_own(H5Dget_create_plist(id), kLoadOp, at(name) + " cannot be read");
  const H5D_layout_t layout = H5Pget_layout(properties);
  check<Foreign>(layout != H5D_VIRTUAL, kLoadOp, ": ", at(name),
                 " is a virtual dataset; expected an array kept in this file");
  check<Foreign>(H5Pget_external_count(properties) == 0, kLoadOp, ": ", at(name),
                 " is kept in another file; expected an array kept in this one");
  check_filters(properties, name);
  const haddr_t offset = layout == H5D_CONTIGUOUS && exact ? H5Dget_offset(id) : HADDR_UNDEF;
  if (offset == HADDR_UNDEF || H5Dget_storage_size(id) != nbytes) {
    return {};
  }
  check<Foreign>(nbytes == 0 || (offset <= file_size_ && nbytes <= file_size_ - offset), kLoadOp,
                 ": ", at(name), " lies beyond the file's end; got ", nbytes, " bytes from ",
                 offset, " on of ", file_size_);
  return offset;
}

void Walk::attributes(hid_t id, const std::string& name) {
  try {
    read_hdf5_attributes(id, name, result.attributes);
  } catch (const IoError& error) {
    fail<IoError>(kLoadOp, ": ", at(name), " has attributes that cannot be read: ", error.what());
  }
}

/// Words of 16 bits are bf16 where an attribute says so, and otherwise integers that no dtype
/// holds.
Hdf5TypeMatch Walk::type_of(hid_t id, const std::string& name) const {
  const Hdf5Handle type = hdf5_own(H5Dget_type(id), kLoadOp, at(name) + " has no type");
  const std::optional<Hdf5TypeMatch> match = match_hdf5_type(type);
  const bool known =
      match.has_value() && (match->dtype != DType::bf16 || H5Tget_class(type) == H5T_FLOAT ||
                            has_hdf5_attribute(id, kDTypeAttribute, kBfloat16));
  check<Foreign>(known, kLoadOp, ": ", at(name), " has a type that no dtype holds; got ",
                 describe_hdf5_type(type),
                 ", expected bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64, c64 or c128");
  return *match;
}

/// A shape is a few bytes, whatever it says: memory is made for what the file can hold.
void Walk::check_stored(hid_t id, const ArrayInfo& info) const {
  constexpr std::uint64_t kTightest = 2048;  // deflate makes up to 1032 bytes of one
  constexpr std::uint64_t kUnwritten = 1 << 20;
  const std::uint64_t stored = std::min<std::uint64_t>(H5Dget_storage_size(id), file_size_);
  check<Foreign>(info.nbytes() <= kUnwritten || info.nbytes() / kTightest <= stored, kLoadOp, ": ",
                 at(info.path), " is not in the file; got ", stored, " bytes for ", info.dtype, " ",
                 info.shape);
}

void Walk::dataset(hid_t id, const std::string& name, haddr_t address) {
  const Hdf5TypeMatch match = type_of(id, name);
  const auto [first, fresh] = first_names_.emplace(address, name);
  ArrayInfo info{name, match.dtype, shape_of(id, name), fresh ? "" : first->second};
  const auto offset = offset_of(id, name, match.exact, info.nbytes());
  check_stored(id, info);
  result.offsets.push_back(offset);
  result.arrays.push_back(std::move(info));
  if (fresh) {
    attributes(id, name);
  }
}

}  // namespace

Hdf5Catalog read_hdf5_catalog(hid_t file, const std::string& path) {
  hsize_t size = 0;
  hdf5_check(H5Fget_filesize(file, &size), kLoadOp, "'" + path + "' has no size");
  Walk walk(path, size);
  const Hdf5Handle root =
      hdf5_own(H5Gopen2(file, "/", H5P_DEFAULT), kLoadOp, "'" + path + "' has no groups");
  walk.root(root);
  return std::move(walk.result);
}

}  // namespace tessera::nn
