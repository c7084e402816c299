#include "non_finite.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/share_text.h>
#include <tessera/nn/non_finite_search.h>

namespace dist = tessera::dist;
using tessera::Context;

namespace {

/// The lowest rank that has found something; the number of ranks if none has.
int first_finder(dist::Communicator& comm, bool here) {
  std::vector<std::int32_t> rank{here ? comm.rank() : comm.size()};
  dist::all_reduce(comm, std::span(rank), dist::ReduceOp::min, "not finite").wait();
  return rank[0];
}

/// `parameter`: dotted path of a module, and the name in it.
std::string blame_gradient(const std::string& parameter) {
  if (parameter.empty()) {
    return ", though every module's output and every gradient is finite";
  }
  const std::size_t dot = parameter.rfind('.');
  const std::string owner = dot == std::string::npos ? "the model" : parameter.substr(0, dot);
  std::string text = " and its gradient is not finite, first that of parameter ";
  return text.append(parameter.substr(dot + 1)).append(" of module ").append(owner);
}

}  // namespace

void NonFiniteSearch::see(const tessera::data::TokenBatch& batch, const tessera::Tensor& loss) {
  const std::vector<double> losses = loss.to_vector<double>();
  if (!batch_ && !std::ranges::all_of(losses, [](double x) { return std::isfinite(x); })) {
    batch_ = batch;
    pass_ = Context::current().pass;
  }
}

std::optional<std::string> NonFiniteSearch::search(const Run& run) const {
  if (!batch_) {
    return std::nullopt;
  }
  const tessera::Pass now = std::exchange(Context::current().pass, pass_);
  auto module =
      tessera::nn::find_non_finite(*run.model, [&] { static_cast<void>(forward(run, *batch_)); });
  Context::current().pass = now;
  return module;
}

std::string NonFiniteSearch::explain(const Run& run, double loss,
                                     const std::string& parameter) const {
  dist::Communicator& comm = *run.world.communicator();
  const std::optional<std::string> module = search(run);
  std::string text = "step " + std::to_string(run.loader.position());
  text.append(": the loss is ").append(std::isnan(loss) ? "nan" : std::to_string(loss));
  const int finder = first_finder(comm, module.has_value());
  if (finder == comm.size()) {
    return text.append(blame_gradient(parameter));
  }
  text.append(comm.size() > 1 ? "; on rank " + std::to_string(finder) + " the" : "; the");
  text.append(" first output that is not finite is that of ");
  return text.append(dist::share_text(comm, module.value_or(""), finder, "not finite"));
}
