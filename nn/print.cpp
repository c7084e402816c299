#include <ostream>
#include <sstream>

#include <tessera/nn/tree/module.h>

namespace tessera::nn {
namespace {

void indent(std::ostream& out, const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    out << "\n  " << line;
  }
}

}  // namespace

std::string Module::repr() const {
  const std::string extra = extra_repr();
  std::ostringstream out;
  out << class_name() << '(';
  if (children_.empty() && extra.find('\n') == std::string::npos) {
    out << extra << ')';
    return out.str();
  }
  indent(out, extra);
  for (const ChildEntryPtr& child : children_) {
    const std::string text = child->module == nullptr ? "None" : child->module->repr();
    indent(out, "(" + child->name + "): " + text);
  }
  out << "\n)";
  return out.str();
}

std::ostream& operator<<(std::ostream& out, const Module& module) {
  return out << module.repr();
}

}  // namespace tessera::nn
