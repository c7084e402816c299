#include <tessera/nn/state/variables.h>

#include <algorithm>

namespace tessera::nn {
namespace {

/// Takes the first step off `path`.
std::string_view take_step(std::string_view& path) {
  const std::string_view step = path.substr(0, path.find_first_of("./"));
  path.remove_prefix(std::min(path.size(), step.size() + 1));
  return step;
}

}  // namespace

Variables::Variables() = default;
Variables::Variables(Tensor leaf) : leaf_(std::move(leaf)) {}
Variables::Variables(const Variables&) = default;
Variables::Variables(Variables&&) noexcept = default;
Variables& Variables::operator=(const Variables&) = default;
Variables& Variables::operator=(Variables&&) noexcept = default;
Variables::~Variables() = default;

Variables::Variables(std::initializer_list<Entry> entries) {
  for (const auto& [name, value] : entries) {
    below_.set(name, value);
  }
}

const Tensor& Variables::leaf() const {
  check<KeyError>(is_leaf(), "variables: a tree of ", size(), " names is no tensor");
  return *leaf_;
}

const Variables& Variables::operator[](std::string_view name) const {
  return below_.at(name);
}

void Variables::add_alias(std::string_view alias, std::string_view name) {
  aliases_.set(alias, std::string(name));
}

const Variables* Variables::find(std::string_view path) const {
  const Variables* at = this;
  while (at != nullptr && !path.empty()) {
    at = at->below_.find(take_step(path));
  }
  return at;
}

const Tensor& Variables::at(std::string_view path) const {
  const Variables* found = find(path);
  check<KeyError>(found != nullptr && found->is_leaf(), "variables: no tensor at \"", path, "\"");
  return *found->leaf_;
}

Tensor& Variables::at(std::string_view path) {
  return const_cast<Tensor&>(std::as_const(*this).at(path));
}

void Variables::set(std::string_view path, Variables value) {
  Variables* at = this;
  for (std::string_view rest = path; !rest.empty();) {
    check<KeyError>(!at->is_leaf(), "variables: a tensor is in the way of \"", path, "\"");
    const std::string_view step = take_step(rest);
    if (!at->below_.contains(step)) {
      at->below_.set(step, Variables());
    }
    at = at->below_.find(step);
  }
  *at = std::move(value);
}

void Variables::visit_leaves(const std::string& path, const auto& visit) const {
  if (is_leaf()) {
    visit(path, *leaf_);
  }
  for (const auto& [name, value] : below_) {
    value.visit_leaves(path.empty() ? name : path + "." + name, visit);
  }
}

std::vector<std::pair<std::string, Tensor>> Variables::leaves() const {
  std::vector<std::pair<std::string, Tensor>> found;
  visit_leaves(
      "", [&](const std::string& path, const Tensor& leaf) { found.emplace_back(path, leaf); });
  return found;
}

Variables Variables::unflatten(const std::vector<Tensor>& leaves) const {
  const auto own = this->leaves();
  check<StructureError>(own.size() == leaves.size(), "unflatten: got ", leaves.size(),
                        " leaves, expected ", own.size());
  Variables tree = *this;
  for (std::size_t i = 0; i < own.size(); ++i) {
    tree.at(own[i].first) = leaves[i];
  }
  return tree;
}

Variables Variables::alphabetical() const {
  std::vector<Entry> entries(below_.begin(), below_.end());
  std::ranges::sort(entries, {}, &Entry::first);
  Variables sorted;
  sorted.leaf_ = leaf_;
  sorted.aliases_ = aliases_;
  for (const auto& [name, value] : entries) {
    sorted.below_.set(name, value.alphabetical());
  }
  return sorted;
}

Variables Variables::map(const std::function<Tensor(const Tensor&)>& f) const {
  Variables result = *this;
  visit_leaves("", [&](const std::string& path, const Tensor& leaf) {
    if (leaf.defined()) {
      result.at(path) = f(leaf);
    }
  });
  return result;
}

Variables Variables::zip_map(const std::function<Tensor(const Tensor&, const Tensor&)>& f,
                             const Variables& other) const {
  Variables given;
  other.visit_leaves("", [&](const std::string& path, const Tensor& leaf) {
    if (leaf.defined() || find(path) != nullptr) {
      given.set(path, leaf);
    }
  });
  const std::string difference = diff(given, {.shapes = false});
  check<StructureError>(difference.empty(), "variables: the trees differ\n", difference);
  Variables result = *this;
  visit_leaves("", [&](const std::string& path, const Tensor& a) {
    const Tensor& b = other.at(path);
    result.at(path) = !a.defined() ? b : !b.defined() ? a : f(a, b);
  });
  return result;
}

StateDict Variables::to_state_dict() const {
  StateDict state;
  visit_leaves("", [&](const std::string& path, const Tensor& leaf) {
    if (leaf.defined()) {
      state.set(path, leaf);
    }
  });
  return state;
}

Variables Variables::from_state_dict(const StateDict& state) {
  Variables tree;
  for (const auto& [name, value] : state) {
    tree.set(name, value.get<Tensor>());
  }
  return tree;
}

}  // namespace tessera::nn
