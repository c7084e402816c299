#include <tessera/nn/io/hdf5_layout.h>

#include <algorithm>

#include <tessera/nn/io/hdf5_attributes.h>
#include <tessera/nn/io/hdf5_types.h>

namespace tessera::nn {
namespace {

constexpr const char* kSaveOp = "save";
constexpr unsigned kOrdered = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;

/// Properties of groups whose names keep the order of their making. No times: equal contents give
/// equal files.
Hdf5Handle ordered_properties(hid_t kind) {
  Hdf5Handle properties = hdf5_own(H5Pcreate(kind), kSaveOp, "cannot set up a group");
  hdf5_check(H5Pset_link_creation_order(properties, kOrdered), kSaveOp, "cannot order names");
  hdf5_check(H5Pset_obj_track_times(properties, false), kSaveOp, "cannot leave out times");
  return properties;
}

/// Properties of arrays that get their place at once and are never filled by HDF5.
Hdf5Handle plain_array_properties() {
  Hdf5Handle properties =
      hdf5_own(H5Pcreate(H5P_DATASET_CREATE), kSaveOp, "cannot set up an array");
  const bool set = H5Pset_layout(properties, H5D_CONTIGUOUS) >= 0 &&
                   H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY) >= 0 &&
                   H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER) >= 0 &&
                   H5Pset_obj_track_times(properties, false) >= 0;
  hdf5_check(set ? 0 : -1, kSaveOp, "cannot set up an array");
  return properties;
}

Hdf5Handle create_file(Hdf5ImageStorage& storage, std::uint64_t user_block,
                       const std::string& path) {
  const Hdf5Handle properties = ordered_properties(H5P_FILE_CREATE);
  hdf5_check(H5Pset_userblock(properties, user_block), kSaveOp, "cannot set the user block");
  return hdf5_own(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, properties, hdf5_access(storage)), kSaveOp,
                  "cannot lay out '" + path + "'");
}

Hdf5Handle space_of(const Shape& shape) {
  std::vector<hsize_t> sizes(shape.begin(), shape.end());
  return hdf5_own(
      sizes.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(shape.size(), sizes.data(), nullptr),
      kSaveOp, "cannot make a shape");
}

}  // namespace

Hdf5Layout::Hdf5Layout(Hdf5ImageStorage& storage, std::uint64_t user_block,
                       const ArrayFileContents& contents, const std::string& path)
    : storage_(storage),
      path_(path),
      file_(create_file(storage, user_block, path)),
      group_properties_(ordered_properties(H5P_GROUP_CREATE)),
      array_properties_(plain_array_properties()) {
  for (const ArraySource& array : contents.arrays) {
    ensure_parent(array.path);
    if (array.target.empty()) {
      add_array(array);
    } else {
      add_name(array);
    }
  }
  for (const std::string& group : contents.groups) {
    ensure_group(group);
  }
  for (const ArrayAttribute& attribute : contents.attributes) {
    add_attribute(attribute);
  }
}

void Hdf5Layout::ensure_group(const std::string& path) {
  if (std::ranges::find(groups_, path) != groups_.end()) {
    return;
  }
  ensure_parent(path);
  const Hdf5Handle group =
      hdf5_own(H5Gcreate2(file_, path.c_str(), H5P_DEFAULT, group_properties_, H5P_DEFAULT),
               kSaveOp, "'" + path_ + "': cannot add the group '" + path + "'");
  groups_.push_back(path);
}

void Hdf5Layout::ensure_parent(const std::string& path) {
  if (const std::size_t slash = path.rfind('/'); slash != std::string::npos) {
    ensure_group(path.substr(0, slash));
  }
}

void Hdf5Layout::add_name(const ArraySource& alias) {
  hdf5_check(H5Lcreate_hard(file_, alias.target.c_str(), file_, alias.path.c_str(), H5P_DEFAULT,
                            H5P_DEFAULT),
             kSaveOp, "'" + path_ + "': cannot add the name '" + alias.path + "'");
  offsets_.emplace_back();
}

void Hdf5Layout::add_array(const ArraySource& array) {
  storage_.set_creating_array(true);
  const Hdf5Handle dataset =
      hdf5_own(H5Dcreate2(file_, array.path.c_str(), hdf5_type(array.dtype), space_of(array.shape),
                          H5P_DEFAULT, array_properties_, H5P_DEFAULT),
               kSaveOp, "'" + path_ + "': cannot add '" + array.path + "'");
  storage_.set_creating_array(false);
  offsets_.push_back(numel_of(array.shape) == 0
                         ? std::nullopt
                         : std::optional<std::uint64_t>(H5Dget_offset(dataset)));
  write_hdf5_checksum(dataset, 0);
  if (array.dtype == DType::bf16) {
    write_hdf5_attribute(dataset, kDTypeAttribute, std::string(kBfloat16));
  }
}

void Hdf5Layout::add_attribute(const ArrayAttribute& attribute) {
  const std::string owner = attribute.owner.empty() ? "/" : attribute.owner;
  const Hdf5Handle object = hdf5_own(H5Oopen(file_, owner.c_str(), H5P_DEFAULT), kSaveOp,
                                     "'" + path_ + "': no '" + owner + "' for an attribute");
  write_hdf5_attribute(object, attribute.name, attribute.value);
}

void Hdf5Layout::set_checksum(const std::string& array, std::uint64_t hash) {
  write_hdf5_checksum(hdf5_own(H5Dopen2(file_, array.c_str(), H5P_DEFAULT), kSaveOp,
                               "'" + path_ + "': cannot open '" + array + "'"),
                      hash);
}

void Hdf5Layout::close() {
  hdf5_check(H5Fflush(file_, H5F_SCOPE_GLOBAL), kSaveOp,
             "'" + path_ + "': cannot complete the layout");
  hdf5_check(file_.close(), kSaveOp, "'" + path_ + "': cannot close the layout");
}

}  // namespace tessera::nn
