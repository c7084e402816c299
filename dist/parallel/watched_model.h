// Noticing that a model is not what the ranks agreed on any more.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <tessera/dist/parallel/agreement.h>
#include <tessera/nn/module.h>

namespace tessera::dist {

/// The slots of a model as the ranks agreed on them, and how they have changed since. Does not keep
/// the model alive.
class WatchedModel {
 public:
  enum class Change : std::uint8_t {
    none,
    values,     ///< somebody else than the optimizer wrote to a parameter
    trained,    ///< a parameter was frozen, or is trained again
    structure,  ///< other slots, a parameter's other tensor
  };

  explicit WatchedModel(nn::Module& model) : model_(model.weak_from_this()) {}

  /// Null when it is gone.
  [[nodiscard]] std::shared_ptr<nn::Module> model() const { return model_.lock(); }
  /// Compares the model with what was accepted.
  void look();
  /// What the last look found.
  [[nodiscard]] Change change() const { return change_; }
  /// What the model is now is agreed on.
  void accept();
  /// The optimizer has written to what is trained.
  void accept_update();
  /// The facts of facts_of, where slots and tensors that are new since the last agreement say so,
  /// and which modules are in which mode.
  [[nodiscard]] Facts facts() const;
  /// A hash of the modes, training or not, that the last look found.
  [[nodiscard]] std::uint64_t modes() const { return modes_; }

 private:
  struct Seen {
    std::weak_ptr<nn::Slot> slot;
    Tensor value;  ///< of a parameter; forwards give buffers others
    std::uint32_t version = 0;
    bool trained = false;
  };
  [[nodiscard]] static Seen see(const nn::SlotPtr& slot);
  [[nodiscard]] static Change compare(const Seen& seen, const nn::SlotPtr& slot);
  [[nodiscard]] bool is_new(const nn::SlotPtr& slot) const;

  std::weak_ptr<nn::Module> model_;
  std::vector<Seen> agreed_;
  Change change_ = Change::none;
  std::uint64_t modes_ = 0;
};

}  // namespace tessera::dist
