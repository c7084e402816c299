#include <tessera/nn/summary/summary.h>

#include <algorithm>
#include <unordered_set>

#include <tessera/core/autograd/meta.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/nn/summary/multiply_adds.h>

namespace tessera::nn {
namespace {

constexpr Device kMeta{.type = DeviceType::meta};

Tensor empty_of(const Tensor& x) {
  Tensor y = empty(x.shape(), {.dtype = x.dtype(), .device = kMeta});
  return is_differentiable(y.dtype()) ? y.set_requires_grad(true) : y;
}

/// Calls `visit` for a tensor, or for each of a list of them.
void each_listed(const Value& value, const auto& visit) {
  if (value.is<Tensor>()) {
    visit(value.tensor());
  } else if (value.is<Value::List>()) {
    for (const Value& part : value.get<Value::List>()) {
      each_listed(part, visit);
    }
  }
}

/// The model without elements and hooks, in which everything has a gradient.
ModulePtr copy_without_elements(const Module& model) {
  ModulePtr copy = detail::copy_with(model, [](const Slot& slot) {
    return slot.value.defined() ? empty_of(slot.value.detach()) : Tensor();
  });
  copy->eval();
  return copy;
}

/// Follows a call through the modules. What a module recorded on the tape, and modules below it did
/// not, is its own work: it is what the arguments of its children and its own outputs come from.
class Follower {
 public:
  Follower(Module& model, std::vector<SummaryRow>& rows) : rows_(rows) {
    std::size_t row = 0;
    for (const auto& [name, module] : model.named_modules()) {
      follow(*module, row++);
    }
  }

 private:
  void follow(Module& module, std::size_t row) {
    module.register_forward_pre_hook([this, row](const Module&, const Args& args) {
      claim(args);
      running_.push_back(row);
    });
    module.register_forward_hook([this, row](const Module&, const Args&, const Value& output) {
      rows_[row].outputs.clear();
      each_listed(output, [&](const Tensor& x) { rows_[row].outputs.push_back(x.shape()); });
      claim(output);
      running_.pop_back();
    });
  }

  /// Gives all new work that `value` comes from to the running module.
  void claim(const Value& value) {
    each_listed(value, [this](const Tensor& x) {
      if (x.requires_grad()) {
        claim_behind(edge_of(x).node);
      }
    });
  }

  void claim_behind(const Ref<TapeNode>& last) {
    std::vector<Ref<TapeNode>> open{last};
    while (!open.empty()) {
      const Ref<TapeNode> node = open.back();
      open.pop_back();
      if (!node || !seen_.insert(node.get()).second) {
        continue;
      }
      kept_.push_back(node);
      if (const OpNode* op = node->as_op()) {
        rows_[running_.back()].multiply_adds += multiply_adds_of(*op);
        for (const TapeEdge& edge : op->edges) {
          open.push_back(edge.node);
        }
      }
    }
  }

  std::vector<SummaryRow>& rows_;
  std::vector<std::size_t> running_;
  std::unordered_set<const TapeNode*> seen_;
  std::vector<Ref<TapeNode>> kept_;  ///< so that no new node has the address of one seen
};

int depth_of(const std::string& name) {
  return name.empty() ? 0 : 1 + static_cast<int>(std::ranges::count(name, '.'));
}

/// A row for each module of the tree, and the totals that follow without a call.
Summary described(const Module& model) {
  Summary result;
  std::unordered_set<const Slot*> seen;
  for (const auto& [name, module] : model.named_modules()) {
    SummaryRow row{.name = name, .layer = module->class_name(), .depth = depth_of(name)};
    for (const Parameter& parameter : module->parameters(false)) {
      const SlotPtr& slot = parameter.slot();
      if (seen.insert(slot.get()).second) {
        const std::int64_t count = numel_of(slot->shape);
        row.parameters += count;
        result.trainable += slot->requires_grad() ? count : 0;
        result.parameter_bytes += count * static_cast<std::int64_t>(size_of(slot->dtype));
      }
    }
    result.parameters += row.parameters;
    result.rows.push_back(std::move(row));
  }
  return result;
}

std::int64_t bytes_of(const Value& value) {
  std::int64_t bytes = 0;
  each_listed(value, [&](const Tensor& x) { bytes += static_cast<std::int64_t>(x.nbytes()); });
  return bytes;
}

}  // namespace

namespace detail {

Tensor without_elements(const Tensor& x) {
  return x.defined() ? empty_of(x) : x;
}

Summary summarize(const Module& model, std::int64_t input_bytes,
                  const std::function<Value(const Module&)>& call) {
  Summary result = described(model);
  result.input_bytes = input_bytes;
  const ModulePtr copy = copy_without_elements(model);
  for (Module* module : copy->modules()) {
    if (module->children().empty()) {
      module->register_forward_hook([&](const Module&, const Args&, const Value& output) {
        result.output_bytes += bytes_of(output);
      });
    }
  }
  const Follower follower(*copy, result.rows);
  const EnableGradGuard recording;
  static_cast<void>(call(*copy));
  for (const SummaryRow& row : result.rows) {
    result.multiply_adds += row.multiply_adds;
  }
  return result;
}

}  // namespace detail

Summary summary(const Module& model, const Tensor& x) {
  return detail::summarize(model, detail::bytes_of_argument(x), [&](const Module& copy) {
    return Value(copy(detail::without_elements(x)));
  });
}

}  // namespace tessera::nn
