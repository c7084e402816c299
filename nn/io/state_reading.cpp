#include <tessera/nn/io/state_reading.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include <tessera/core/base/error.h>
#include <tessera/core/device/memory_stats.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/io/state_arrays.h>

namespace tessera::nn {
namespace {

std::string dotted(std::string path) {
  std::ranges::replace(path, '/', '.');
  return path;
}

/// Names that a state dict of `module` has.
std::set<std::string> names_of_state(const Module& module) {
  std::set<std::string> names;
  for (const auto& [name, slot] : module.named_slots()) {
    if (slot->persistent) {
      names.insert(name);
    }
  }
  for (const auto& [name, extra] : named_extra_states(module)) {
    names.insert(name);
  }
  return names;
}

class StateReading {
 public:
  StateReading(ArrayFileReader& reader, const std::string& path, const Module& module,
               const NameMap& names)
      : reader_(reader), path_(path), names_(names), expected_(names_of_state(module)) {}

  FileState run() {
    prefix_ = prefix_of_model();
    for (const ArrayInfo& array : reader_.arrays()) {
      if (const std::optional<std::string> name = name_inside(array.path, prefix_)) {
        add(array, *name);
      }
    }
    add_attributes();
    return std::move(file_);
  }

 private:
  /// What a dotted name is behind `prefix`; none where it does not begin so.
  [[nodiscard]] static std::optional<std::string> name_inside(const std::string& path,
                                                              std::string_view prefix) {
    const std::string name = dotted(path);
    return name.starts_with(prefix) ? std::optional(name.substr(prefix.size())) : std::nullopt;
  }

  /// "model.", a group that checkpoints have, where more of the module's names are in there than
  /// outside; where none are anywhere, if the module has no such part.
  [[nodiscard]] std::string_view prefix_of_model() const {
    constexpr std::string_view kModel = "model.";
    const auto wanted = [this](std::string_view prefix) {
      return std::ranges::count_if(reader_.arrays(), [&](const ArrayInfo& array) {
        const std::optional<std::string> name = name_inside(array.path, prefix);
        return name && expected_.contains(map(*name).name);
      });
    };
    const auto inside = wanted(kModel), outside = wanted("");
    if (inside != 0 || outside != 0) {
      return inside > outside ? kModel : "";
    }
    const auto in_group = [&](const ArrayInfo& x) {
      return name_inside(x.path, kModel).has_value();
    };
    const auto begins_so = [&](const std::string& name) { return name.starts_with(kModel); };
    return std::ranges::any_of(reader_.arrays(), in_group) &&
                   std::ranges::none_of(expected_, begins_so)
               ? kModel
               : "";
  }

  [[nodiscard]] NameMap::Mapped map(const std::string& name) const {
    check<IoError>(names_.rules.empty() || name.size() <= NameMap::kLongestName, "load: '", path_,
                   "': '", name, "' is too long a name; got ", name.size(),
                   " bytes, expected at most ", NameMap::kLongestName);
    return names_(name);
  }

  void add(const ArrayInfo& array, const std::string& name) {
    const NameMap::Mapped mapped = map(name);
    if (mapped.name.empty()) {
      return;
    }
    check<IoError>(!file_.state.contains(mapped.name) || !expected_.contains(mapped.name),
                   "load: '", path_, "': '", array.path, "' is there twice, as '", mapped.name,
                   "'");
    const std::string own = names_.rules.empty() ? dotted(array.path) : array.path;
    if (own != mapped.name || mapped.transpose) {
      file_.sources[mapped.name] = {array.path, mapped.transpose};
    }
    file_.state.set(mapped.name, value_of(array, mapped));
  }

  /// Nothing for an array that cannot be read and is not the module's: its name alone counts.
  Value value_of(const ArrayInfo& array, const NameMap::Mapped& mapped) {
    if (!array.refusal.empty() && !expected_.contains(mapped.name)) {
      return {};
    }
    const Tensor found = tensor_of(array);
    const Value value = state_value(mapped.name, found, about(array));
    return mapped.transpose && value.is<Tensor>() ? transposed(array, found) : value;
  }

  [[nodiscard]] std::string about(const ArrayInfo& array) const {
    return "load: '" + path_ + "': '" + array.path + "'";
  }

  Tensor tensor_of(const ArrayInfo& array) {
    if (const auto known = tensors_.find(array.target); known != tensors_.end()) {
      return known->second;
    }
    check<IoError>(array.refusal.empty(), array.refusal);
    const CategoryScope category(MemoryCategory::parameter);  // a load that assigns keeps it
    Tensor value = empty(array.shape, {.dtype = array.dtype});
    reader_.read(array.path, {static_cast<std::byte*>(value.raw_data()), value.nbytes()});
    tensors_.emplace(array.path, value);
    return value;
  }

  [[nodiscard]] Tensor transposed(const ArrayInfo& array, const Tensor& value) const {
    check<IoError>(value.shape().size() == 2, about(array), " is to be transposed; got shape ",
                   value.shape(), ", expected two dims");
    return contiguous(transpose(value));
  }

  /// Versions of the classes that wrote the state, and names of tensors that are there under
  /// another one.
  void add_attributes() {
    for (const ArrayAttribute& attribute : reader_.attributes()) {
      const auto* number = std::get_if<std::int64_t>(&attribute.value);
      const auto* text = std::get_if<std::string>(&attribute.value);
      if (number != nullptr && attribute.name == kStateVersionAttribute) {
        set_version(dotted(attribute.owner), *number);
      } else if (number != nullptr && attribute.owner.empty()) {
        check<IoError>(attribute.name != kWeightsFormatAttribute || *number <= kWeightsFormat,
                       "load: '", path_, "' was written by a newer Tessera; got weights format ",
                       *number, ", expected at most ", kWeightsFormat);
      } else if (text != nullptr && attribute.owner.empty()) {
        add_other_name(attribute.name, reader_.find(*text));
      }
    }
  }

  void set_version(const std::string& owner, std::int64_t version) {
    const std::string inside = owner.empty() ? owner : owner + ".";
    if (inside.starts_with(prefix_)) {
      const std::string rest = inside.substr(prefix_.size());
      file_.state.metadata().set(rest.substr(0, rest.size() - (rest.empty() ? 0 : 1)),
                                 Metadata{{"version", version}});
    }
  }

  void add_other_name(const std::string& alias, const ArrayInfo* array) {
    if (array == nullptr) {
      return;
    }
    const std::optional<std::string> other = name_inside(alias, prefix_);
    const std::optional<std::string> first = name_inside(array->path, prefix_);
    if (!other || !first) {
      return;
    }
    const std::string name = map(*other).name;
    const std::string target = map(*first).name;
    if (expected_.contains(name) && !file_.state.contains(name) && file_.state.contains(target)) {
      check<IoError>(array->refusal.empty(), array->refusal);
      file_.state.set(name, file_.state.at(target));
    }
  }

  ArrayFileReader& reader_;
  const std::string& path_;
  const NameMap& names_;
  std::set<std::string> expected_;
  std::string_view prefix_;  ///< of the names that are read
  std::map<std::string, Tensor> tensors_;
  FileState file_;
};

}  // namespace

std::string FileState::text(const std::string& name) const {
  const auto source = sources.find(name);
  if (source == sources.end()) {
    return '"' + name + '"';
  }
  const std::string how = source->second.transposed ? "transposed, as" : "as";
  return '"' + source->second.path + "\" (" + how + " \"" + name + "\")";
}

FileState read_state(ArrayFileReader& reader, const std::string& path, const Module& module,
                     const NameMap& names) {
  return StateReading(reader, path, module, names).run();
}

}  // namespace tessera::nn
