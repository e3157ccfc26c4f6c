#pragma once

#include <functional>
#include <memory>

#include "onset/smi/model/sequence_model.hpp"

namespace onset::smi {

/// A model of somebody's own in place of a named link: while it lives, every request that this
/// thread settles speaks of it, as if its name were given as `link`. Requests are plain values and
/// cannot hold a model; a front end that has one (Python) says so this way. The fields that
/// describe attention must be left alone then, as with any link.
class OwnModel {
 public:
  using Make = std::function<std::unique_ptr<SequenceModel>()>;

  explicit OwnModel(Make make);
  OwnModel(const OwnModel&) = delete;
  OwnModel& operator=(const OwnModel&) = delete;
  ~OwnModel();

  /// Whether a request has asked for it; one that has not cannot speak of it.
  [[nodiscard]] bool used() const { return used_; }

  /// A new copy of the model that stands in now, or null.
  [[nodiscard]] static std::unique_ptr<SequenceModel> current();

 private:
  Make make_;
  OwnModel* outer_;
  bool used_ = false;
};

}  // namespace onset::smi
