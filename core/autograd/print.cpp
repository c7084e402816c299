// Printing tensors as PyTorch prints them.
#include <algorithm>

#include <tessera/core/autograd/meta.h>
#include <tessera/core/tensor/number_format.h>
#include <tessera/core/tensor/transfer.h>

namespace tessera {
namespace {

constexpr std::int64_t kSummarizeAbove = 1000;  ///< elements
constexpr std::int64_t kEdge = 3;               ///< elements shown at each end of a dim
constexpr std::size_t kLineWidth = 80;
constexpr std::size_t kIndent = 7;  ///< the length of "tensor("
constexpr std::int64_t kGap = -1;   ///< stands for "..." among positions

class Printer {
 public:
  explicit Printer(const TensorImpl& x)
      : x_(x), summarize_(x.numel() > kSummarizeAbove), format_(x, shown()) {}

  [[nodiscard]] std::string text() const { return x_.shape.empty() ? format_(0) : block(0, 0); }

 private:
  /// Positions along a dim, with kGap where some are left out.
  [[nodiscard]] std::vector<std::int64_t> positions(int dim) const {
    const std::int64_t size = x_.shape[dim];
    std::vector<std::int64_t> result;
    for (std::int64_t i = 0; i < size; ++i) {
      if (summarize_ && size > 2 * kEdge && i == kEdge) {
        result.push_back(kGap);
        i = size - kEdge;
      }
      result.push_back(i);
    }
    return result;
  }

  /// The offsets of the elements that are shown.
  [[nodiscard]] std::vector<std::int64_t> shown() const {
    std::vector<std::int64_t> offsets;
    collect(0, 0, offsets);
    return offsets;
  }

  // The depth of this recursion and of the next is that of a shape: at most eight.
  void collect(int dim, std::int64_t offset, std::vector<std::int64_t>& offsets) const {
    if (dim == x_.shape.size()) {
      offsets.push_back(offset);
      return;
    }
    for (const std::int64_t i : positions(dim)) {
      if (i != kGap) {
        collect(dim + 1, offset + i * x_.strides[dim], offsets);
      }
    }
  }

  [[nodiscard]] std::string block(int dim, std::int64_t offset) const {
    if (dim == x_.shape.size() - 1) {
      return line(offset);
    }
    const auto below = static_cast<std::size_t>(x_.shape.size() - dim - 1);
    std::string separator(",");
    separator.append(below, '\n').append(kIndent + static_cast<std::size_t>(dim) + 1, ' ');
    std::string text("[");
    for (const std::int64_t i : positions(dim)) {
      text += text.size() > 1 ? separator : "";
      text += i == kGap ? "..." : block(dim + 1, offset + i * x_.strides[dim]);
    }
    return text.append("]");
  }

  [[nodiscard]] std::string line(std::int64_t offset) const {
    const std::size_t indent = kIndent + static_cast<std::size_t>(x_.shape.size()) - 1;
    const std::size_t per_line =
        std::max<std::size_t>(1, (kLineWidth - indent) / (format_.width() + 2));
    std::string line_break(",\n");
    line_break.append(indent + 1, ' ');
    std::string text("[");
    std::size_t count = 0;
    for (const std::int64_t i : positions(x_.shape.size() - 1)) {
      if (count > 0) {
        text += count % per_line == 0 ? line_break : ", ";
      }
      text += i == kGap ? " ..." : format_(offset + i * x_.strides.back());
      ++count;
    }
    return text.append("]");
  }

  const TensorImpl& x_;
  bool summarize_;
  ElementFormat format_;
};

/// What is said behind the elements; nothing for what goes without saying.
std::vector<std::string> properties(const Tensor& x) {
  std::vector<std::string> result;
  const auto add = [&](const auto&... parts) { result.push_back(detail::concat(parts...)); };
  const bool no_elements = x.device().type == DeviceType::meta || x.numel() == 0;
  if (!x.device().is_cpu()) {
    add("device=", x.device());
  }
  if (no_elements && x.shape() != Shape{0}) {
    add("size=", x.shape());
  }
  const DType t = x.dtype();
  if (t != DType::f32 && t != DType::i64 && t != DType::boolean && t != DType::c64) {
    add("dtype=", t);
  }
  if (!x.is_leaf()) {
    const TapeEdge edge = edge_of(x);
    add("from=", edge.node->as_op()->op->info.name);
  } else if (x.requires_grad()) {
    add("requires_grad=true");
  }
  return result;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Tensor& x) {
  if (!x.defined()) {
    return out << "tensor(undefined)";
  }
  std::string text = "tensor(";
  if (x.device().type == DeviceType::meta) {
    text += "...";
  } else {
    text += x.numel() == 0 ? "[]" : Printer(to_host(x).get()).text();
  }
  for (const std::string& property : properties(x)) {
    const std::size_t newline = text.rfind('\n');
    const std::size_t line = text.size() - (newline == std::string::npos ? 0 : newline + 1);
    const bool fits = line + property.size() + 2 <= kLineWidth;
    text.append(fits ? ", " : ",\n").append(fits ? 0 : kIndent, ' ').append(property);
  }
  return out << text << ")";
}

}  // namespace tessera
