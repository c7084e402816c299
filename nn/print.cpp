#include <ostream>
#include <sstream>

#include <tessera/nn/module.h>

namespace tessera::nn {
namespace {

void indent(std::ostream& out, const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    out << "\n  " << line;
  }
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Module& module) {
  const std::string extra = module.extra_repr();
  out << module.class_name() << '(';
  const bool inline_extra = module.children().empty() && extra.find('\n') == std::string::npos;
  if (inline_extra) {
    return out << extra << ')';
  }
  indent(out, extra);
  for (const ModulePtr& child : module.children()) {
    std::ostringstream text;
    text << '(' << child->name() << "): " << *child;
    indent(out, text.str());
  }
  return out << "\n)";
}

}  // namespace tessera::nn
