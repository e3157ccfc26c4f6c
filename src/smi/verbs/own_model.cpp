#include "smi/verbs/own_model.hpp"

#include <utility>

namespace onset::smi {
namespace {

thread_local OwnModel* innermost = nullptr;

}  // namespace

OwnModel::OwnModel(Make make) : make_(std::move(make)), outer_(std::exchange(innermost, this)) {}

OwnModel::~OwnModel() {
  innermost = outer_;
}

std::unique_ptr<SequenceModel> OwnModel::current() {
  if (innermost == nullptr) return nullptr;
  innermost->used_ = true;
  return innermost->make_();
}

}  // namespace onset::smi
