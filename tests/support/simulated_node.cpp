#include "support/simulated_node.h"

#include <algorithm>

namespace tessera {
namespace {

constexpr std::size_t kSector = 512;

bool survives(Survivors survivors, std::mt19937_64& random) {
  return survivors == Survivors::all || (survivors == Survivors::random && random() % 2 == 0);
}

}  // namespace

void SimulatedFileSystem::Node::apply(std::string& target, const Write& write) {
  if (write.resize) {
    target.resize(write.offset, '\0');
    return;
  }
  target.resize(std::max<std::size_t>(target.size(), write.offset + write.bytes.size()), '\0');
  std::ranges::copy(write.bytes, target.begin() + static_cast<std::ptrdiff_t>(write.offset));
}

void SimulatedFileSystem::Node::apply(Names& target, const NameChange& change) {
  for (const auto& [name, node] : change) {
    if (node == nullptr) {
      target.erase(name);
    } else {
      target[name] = node;
    }
  }
}

void SimulatedFileSystem::Node::write(Write change) {
  apply(bytes, change);
  pending_writes_.push_back(std::move(change));
}

void SimulatedFileSystem::Node::sync() {
  if (kind == FileKind::directory) {
    durable_names_ = names;
    pending_names_.clear();
  } else {
    durable_bytes_ = bytes;
    pending_writes_.clear();
  }
}

void SimulatedFileSystem::Node::change_names(NameChange change) {
  apply(names, change);
  pending_names_.push_back(std::move(change));
}

void SimulatedFileSystem::Node::settle_writes(Survivors survivors, std::mt19937_64& random) {
  for (const Write& write : pending_writes_) {
    if (write.resize && survives(survivors, random)) {
      apply(durable_bytes_, write);
    }
    for (std::size_t i = 0; i < write.bytes.size(); i += kSector) {
      if (survives(survivors, random)) {
        apply(durable_bytes_, {write.offset + i, write.bytes.substr(i, kSector), false});
      }
    }
  }
  pending_writes_.clear();
  bytes = durable_bytes_;
}

void SimulatedFileSystem::Node::settle_names(Survivors survivors, std::mt19937_64& random) {
  for (const NameChange& change : pending_names_) {
    if (survives(survivors, random)) {
      apply(durable_names_, change);
    }
  }
  pending_names_.clear();
  names = durable_names_;
}

void SimulatedFileSystem::Node::settle(Survivors survivors, std::mt19937_64& random) {
  if (kind != FileKind::directory) {
    settle_writes(survivors, random);
    return;
  }
  settle_names(survivors, random);
  for (const auto& [name, node] : names) {
    node->settle(survivors, random);
  }
}

std::uint64_t SimulatedFileSystem::Node::bytes_held() const {
  std::uint64_t held = bytes.size();
  for (const auto& [name, node] : names) {
    held += node->bytes_held();
  }
  return held;
}

}  // namespace tessera
