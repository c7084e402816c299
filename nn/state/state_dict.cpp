#include <tessera/nn/state/state_dict.h>

#include <ostream>

namespace tessera::nn {

StateDict::StateDict(std::initializer_list<Entry> entries) {
  for (const Entry& entry : entries) {
    set(entry.first, entry.second);
  }
}

const Value* StateDict::find(std::string_view name) const {
  const auto found = places_.find(std::string(name));
  return found == places_.end() ? nullptr : &entries_[found->second].second;
}

const Value& StateDict::at(std::string_view name) const {
  const Value* found = find(name);
  check<KeyError>(found != nullptr, "state dict: no \"", name, "\" among ", size(), " names");
  return *found;
}

void StateDict::set(std::string_view name, Value value) {
  const auto [place, added] = places_.try_emplace(std::string(name), entries_.size());
  if (added) {
    entries_.emplace_back(name, std::move(value));
  } else {
    entries_[place->second].second = std::move(value);
  }
}

bool StateDict::erase(std::string_view name) {
  const auto found = places_.find(std::string(name));
  if (found == places_.end()) {
    return false;
  }
  const std::size_t place = found->second;
  places_.erase(found);
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(place));
  for (std::size_t i = place; i < entries_.size(); ++i) {
    places_[entries_[i].first] = i;
  }
  return true;
}

StateDict StateDict::below(std::string_view prefix) const {
  StateDict part;
  for (const auto& [name, value] : entries_) {
    if (name.starts_with(prefix)) {
      part.set(name, value);
    }
  }
  part.metadata_ = metadata_;
  return part;
}

std::string prefix_of(std::string_view path) {
  return std::string(path) + (path.empty() || path.ends_with('.') ? "" : ".");
}

std::ostream& operator<<(std::ostream& out, const LoadResult& result) {
  const auto list = [&](const char* title, const std::vector<std::string>& keys) {
    const char* before = title;
    for (const std::string& key : keys) {
      out << std::exchange(before, ", ") << '"' << key << '"';
    }
  };
  if (result.missing_keys.empty() && result.unexpected_keys.empty()) {
    return out << "all keys matched";
  }
  list("missing: ", result.missing_keys);
  list(result.missing_keys.empty() ? "unexpected: " : "; unexpected: ", result.unexpected_keys);
  return out;
}

}  // namespace tessera::nn
