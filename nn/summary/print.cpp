#include <algorithm>
#include <array>
#include <iomanip>
#include <sstream>

#include <tessera/nn/summary/summary.h>

namespace tessera::nn {
namespace {

using Line = std::array<std::string, 4>;

/// 1,234,567; nothing is "--".
std::string text_of(std::int64_t number) {
  if (number == 0) {
    return "--";
  }
  std::string text = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return text;
}

std::string text_of(const std::vector<Shape>& shapes) {
  std::string text;
  for (const Shape& shape : shapes) {
    text += tessera::detail::concat(text.empty() ? "" : ", ", shape);
  }
  return text.empty() ? "--" : text;
}

Line line_of(const SummaryRow& row) {
  const std::string own = row.name.substr(row.name.rfind('.') + 1);
  const std::string label = own.empty() ? row.layer : tessera::detail::concat(own, ": ", row.layer);
  return {std::string(2 * static_cast<std::size_t>(row.depth), ' ') + label, text_of(row.outputs),
          text_of(row.parameters), text_of(row.multiply_adds)};
}

std::string megabytes(std::int64_t bytes) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(2) << static_cast<double>(bytes) / 1e6 << " MB";
  return out.str();
}

/// Texts to the left, numbers to the right.
void print(std::ostream& out, const Line& line, const std::array<int, 4>& widths) {
  const auto flags = out.flags();
  out << std::left << std::setw(widths[0]) << line[0] << "  " << std::setw(widths[1]) << line[1]
      << std::right << "  " << std::setw(widths[2]) << line[2] << "  " << std::setw(widths[3])
      << line[3] << '\n';
  out.flags(flags);
}

void print_totals(std::ostream& out, const Summary& s) {
  out << "Parameters: " << text_of(s.parameters) << " (trained: " << text_of(s.trainable) << ")\n"
      << "Multiply-adds: " << text_of(s.multiply_adds) << '\n'
      << "Input: " << megabytes(s.input_bytes) << ", outputs: " << megabytes(s.output_bytes)
      << ", parameters: " << megabytes(s.parameter_bytes) << '\n';
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Summary& s) {
  std::vector<Line> lines{{"Layer", "Output shape", "Parameters", "Multiply-adds"}};
  for (const SummaryRow& row : s.rows) {
    lines.push_back(line_of(row));
  }
  std::array<int, 4> widths{};
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      widths[i] = std::max(widths[i], static_cast<int>(line[i].size()));
    }
  }
  const std::string rule(
      static_cast<std::size_t>(widths[0] + widths[1] + widths[2] + widths[3] + 6), '-');
  print(out, lines[0], widths);
  out << rule << '\n';
  for (std::size_t i = 1; i < lines.size(); ++i) {
    print(out, lines[i], widths);
  }
  out << rule << '\n';
  print_totals(out, s);
  return out;
}

}  // namespace tessera::nn
