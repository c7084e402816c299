#include <tessera/nn/print.h>

#include <ostream>
#include <span>
#include <sstream>
#include <vector>

#include <tessera/nn/tree/module_access.h>

namespace tessera::nn {
namespace {

void indent(std::ostream& out, const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    out << "\n  " << line;
  }
}

std::string text_of(const ChildEntryPtr& child) {
  return child->module == nullptr ? "None" : child->module->repr();
}

/// "(2): Linear(...)", or, for a run, "(2-4): 3 x Linear(...)".
std::string line_of(std::span<const ChildEntryPtr> run, const std::string& text) {
  if (run.size() == 1) {
    return tessera::detail::concat('(', run.front()->name, "): ", text);
  }
  return tessera::detail::concat('(', run.front()->name, '-', run.back()->name, "): ", run.size(),
                                 " x ", text);
}

/// The printed forms of children, in order.
std::vector<std::string> lines_of(std::span<const ChildEntryPtr> children, bool join) {
  std::vector<std::string> lines;
  while (!children.empty()) {
    const std::string text = text_of(children.front());
    std::size_t equal = 1;
    while (join && equal < children.size() && text_of(children[equal]) == text) {
      ++equal;
    }
    lines.push_back(line_of(children.first(equal), text));
    children = children.subspan(equal);
  }
  return lines;
}

}  // namespace

std::string detail::repr(const Module& module) {
  const std::string extra = module.extra_repr();
  const std::vector<ChildEntryPtr>& children = child_entries(module);
  std::ostringstream out;
  out << module.class_name() << '(';
  if (children.empty() && extra.find('\n') == std::string::npos) {
    out << extra << ')';
    return out.str();
  }
  indent(out, extra);
  for (const std::string& line : lines_of(children, module.joins_equal_children())) {
    indent(out, line);
  }
  out << "\n)";
  return out.str();
}

std::ostream& operator<<(std::ostream& out, const Module& module) {
  return out << module.repr();
}

}  // namespace tessera::nn
