#include <tessera/core/autograd/boundary.h>

#include <memory>

#include <tessera/core/autograd/record.h>
#include <tessera/core/autograd/views.h>
#include <tessera/core/dispatch/call_context.h>
#include <tessera/core/dispatch/vjp.h>

namespace tessera {
namespace {

/// What is recorded: a call that no kernel ever runs.
struct Boundary {
  static constexpr OpInfo info{.name = "boundary", .doc = "a line at which gradients are seen"};
  struct Attrs {
    std::shared_ptr<const BoundaryHook> hook;
    std::vector<std::size_t> indices;  ///< of the recorded tensors among all
    std::size_t count = 0;
    void fields(auto&& see) const { see("count", count); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer&, const Attrs&) {}
  static void reference(Kernel&, const Attrs&) {}
  static void vjp(Vjp& v, const Attrs& attrs);
};

void Boundary::vjp(Vjp& v, const Attrs& attrs) {
  std::vector<Tensor> gradients(attrs.count);
  for (int i = 0; i < v.input_count(); ++i) {
    if (v.has_gradient(i)) {
      gradients[attrs.indices[static_cast<std::size_t>(i)]] = v.gradient(i);
    }
  }
  {
    // The caller's code: what it sums over the samples is a microbatch's, as in a forward.
    const SumsApart apart;
    gradients = (*attrs.hook)(std::move(gradients));
  }
  check<InternalError>(gradients.size() == attrs.count, "boundary: wrong number of gradients; got ",
                       gradients.size(), ", expected ", attrs.count);
  for (int i = 0; i < v.input_count(); ++i) {
    v.set(i, std::move(gradients[attrs.indices[static_cast<std::size_t>(i)]]));
  }
}

/// A view as an op makes one: it notices when `x` is written to.
Tensor view_behind_boundary(const Tensor& x) {
  Tensor view = x.detach();
  link_view(view.get(), x.impl());
  view.get().boundary = true;
  view.get().settle_stages();
  return view;
}

}  // namespace

std::vector<Tensor> make_boundary(std::span<const Tensor> tensors, BoundaryHook hook) {
  std::vector<Tensor> views(tensors.begin(), tensors.end());
  Boundary::Attrs attrs{.hook = std::make_shared<const BoundaryHook>(std::move(hook)),
                        .count = tensors.size()};
  std::vector<TensorRef> inputs;
  Outputs outputs;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].defined()) {
      views[i] = view_behind_boundary(tensors[i]);
    }
    if (tensors[i].defined() && tensors[i].requires_grad() && grad_enabled()) {
      attrs.indices.push_back(i);
      inputs.emplace_back(tensors[i]);
      outputs.push_back(views[i]);
    }
  }
  if (!inputs.empty()) {
    record(op_def<Boundary>(), inputs, &attrs, outputs);
  }
  return views;
}

}  // namespace tessera
