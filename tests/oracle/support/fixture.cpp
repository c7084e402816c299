#include "oracle/support/fixture.h"

#include <algorithm>
#include <cstdlib>

#include <tessera/core/tensor/factories.h>

namespace tessera::oracle {
namespace {

/// The child of that name, new if need be.
Node& child_of(Node& parent, std::string_view name) {
  for (auto& [known, child] : parent.children) {
    if (known == name) {
      return child;
    }
  }
  return parent.children.emplace_back(name, Node()).second;
}

Node& node_at(Node& root, std::string_view path) {
  Node* node = &root;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    node = &child_of(*node, path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return *node;
}

Tensor read_array(nn::ArrayFileReader& reader, const nn::ArrayInfo& info) {
  const Tensor values = empty(info.shape, {.dtype = info.dtype});
  reader.read(info.path, {static_cast<std::byte*>(values.raw_data()), info.nbytes()});
  return values;
}

Node read_fixture(const std::string& path) {
  const auto reader = nn::open_array_file(path);
  Node root;
  for (const nn::ArrayInfo& info : reader->arrays()) {
    node_at(root, info.path).values = read_array(*reader, info);
  }
  for (const nn::ArrayAttribute& attribute : reader->attributes()) {
    node_at(root, attribute.owner).attributes.add(attribute.name, attribute.value);
  }
  return root;
}

/// The value as a T, or, for lists, a single T as a list of one.
template <class T>
std::vector<T> list_of(const nn::AttributeValue& value) {
  if (const auto* list = std::get_if<std::vector<T>>(&value)) {
    return *list;
  }
  return {std::get<T>(value)};
}

}  // namespace

const nn::AttributeValue& Attributes::at(const std::string& name) const {
  const auto found = values_.find(name);
  check<KeyError>(found != values_.end(), "fixture: no attribute \"", name, "\"");
  read_.insert(name);
  return found->second;
}

bool Attributes::has(const std::string& name) const {
  return values_.contains(name);
}

bool Attributes::is_text(const std::string& name) const {
  return has(name) && std::holds_alternative<std::string>(at(name));
}

bool Attributes::is_none(const std::string& name) const {
  return is_text(name) && text(name) == "None";
}

std::int64_t Attributes::integer(const std::string& name) const {
  return std::get<std::int64_t>(at(name));
}

std::int64_t Attributes::integer(const std::string& name, std::int64_t fallback) const {
  return has(name) ? integer(name) : fallback;
}

double Attributes::number(const std::string& name) const {
  const auto* whole = std::get_if<std::int64_t>(&at(name));
  return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(at(name));
}

double Attributes::number(const std::string& name, double fallback) const {
  return has(name) ? number(name) : fallback;
}

bool Attributes::flag(const std::string& name, bool fallback) const {
  return has(name) ? integer(name) != 0 : fallback;
}

std::string Attributes::text(const std::string& name) const {
  return std::get<std::string>(at(name));
}

std::string Attributes::text(const std::string& name, const std::string& fallback) const {
  return has(name) ? text(name) : fallback;
}

std::vector<std::int64_t> Attributes::integers(const std::string& name) const {
  return list_of<std::int64_t>(at(name));
}

std::vector<double> Attributes::numbers(const std::string& name) const {
  return list_of<double>(at(name));
}

std::set<std::string> Attributes::unread() const {
  std::set<std::string> names;
  for (const auto& [name, value] : values_) {
    if (!read_.contains(name)) {
      names.insert(name);
    }
  }
  read_.clear();
  return names;
}

bool Node::has(std::string_view name) const {
  return std::ranges::any_of(children, [&](const auto& child) { return child.first == name; });
}

const Node& Node::operator[](std::string_view name) const {
  static const Node none;
  const auto found =
      std::ranges::find_if(children, [&](const auto& child) { return child.first == name; });
  return found == children.end() ? none : found->second;
}

std::vector<std::string> Node::names() const {
  std::vector<std::string> names;
  for (const auto& [name, child] : children) {
    names.push_back(name);
  }
  return names;
}

const Node& fixture() {
  static const Node root = [] {
    const char* other = std::getenv("TESSERA_LAYERS_FIXTURE");
    return read_fixture(other != nullptr ? other : TESSERA_TEST_FOLDER "/fixtures/layers.h5");
  }();
  return root;
}

}  // namespace tessera::oracle
