#pragma once

#include <memory>

#include "onset/smi/model/sequence_model.hpp"
#include "smi/model/typed/typed_link.hpp"

namespace onset::smi {

/// A typed link behind the interface of all sequence models: every direction is a block, so that
/// what is known of the teacher is a full matrix over the directions. Its posterior answers for
/// priors of any covariance (PosteriorQuery::covariance). Samples have `tokens` tokens, of which
/// the link reads some.
[[nodiscard]] std::unique_ptr<SequenceModel> typed_model(std::shared_ptr<const TypedLink> link,
                                                         std::size_t tokens);

}  // namespace onset::smi
