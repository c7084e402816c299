#include <tessera/core/autograd/print_tape.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

#include <tessera/core/autograd/meta.h>

namespace tessera {
namespace {

class TapePrinter {
 public:
  TapePrinter(std::ostream& out, std::span<const Tensor> roots) : out_(out) {
    for (const Tensor& root : roots) {
      find(edge_of(root));
    }
    for (std::size_t next = 0; next < ops_.size(); ++next) {  // what is found joins the list
      std::ranges::for_each(ops_[next]->edges, [this](const TapeEdge& edge) { find(edge); });
    }
    std::ranges::sort(ops_, {}, [](const OpNode* op) { return op->sequence; });
    for (std::size_t line = 0; line < ops_.size(); ++line) {
      lines_[ops_[line]] = line;
    }
  }

  void print() const {
    for (const OpNode* op : ops_) {
      print(*op);
    }
  }

 private:
  void find(const TapeEdge& edge) {
    OpNode* op = edge.node ? edge.node->as_op() : nullptr;
    if (op != nullptr && lines_.emplace(op, 0).second) {
      ops_.push_back(op);
    }
  }

  void print(const OpNode& op) const {
    out_ << '%' << lines_.at(&op) << " = " << op.op->info.name;
    op.op->attrs->print(out_, op.attrs.get());
    const char* before = "(";
    for (std::size_t i = 0; i < op.edges.size(); ++i) {
      out_ << before;
      print_input(op, i);
      before = ", ";
    }
    before = ") -> ";
    for (const TensorMeta& output : op.outputs) {
      out_ << before;
      print(output);
      before = ", ";
    }
    out_ << '\n';
  }

  void print_input(const OpNode& op, std::size_t i) const {
    const TapeEdge& edge = op.edges[i];
    if (OpNode* producer = edge.node ? edge.node->as_op() : nullptr; producer != nullptr) {
      out_ << '%' << lines_.at(producer);
      if (producer->outputs.size() > 1) {
        out_ << '.' << edge.output;
      }
      return;
    }
    if (!op.input_meta(i).is_given()) {
      out_ << "none";
      return;
    }
    if (edge.node) {
      const auto name = edge.node->as_leaf()->name.lock();
      out_ << "leaf " << (name == nullptr ? "" : '"' + *name + "\" ");
    }
    print(op.input_meta(i));
  }

  void print(const TensorMeta& x) const {
    out_ << x.dtype << ' ' << x.shape;
    if (x.microbatches.count > 1) {
      out_ << " of " << x.microbatches.count << " microbatches"
           << (x.microbatches.per_microbatch ? ", one at each index" : "");
      if (!x.microbatches.per_microbatch) {
        out_ << " along dim " << int{x.microbatches.dim};
      }
    }
  }

  std::ostream& out_;
  std::vector<const OpNode*> ops_;
  std::unordered_map<const OpNode*, std::size_t> lines_;
};

}  // namespace

void print_tape(std::ostream& out, std::span<const Tensor> roots) {
  TapePrinter(out, roots).print();
}

void print_tape(std::ostream& out, const Tensor& root) {
  print_tape(out, std::span(&root, 1));
}

}  // namespace tessera
