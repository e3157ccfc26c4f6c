#pragma once

#include <span>

#include "aim/model/attention_indexed.hpp"
#include "onset/aim/model/students.hpp"

namespace onset::aim {

/// The loss of one sample and its derivative with respect to every entry of the student's scores on
/// its own [aim 61]. All spans are T x T; those of a teacher with linear labels include their
/// noise. Hardmax labels with a squared loss are not offered (the verbs refuse them).
double training_loss(const AttentionIndexed& labels, SgdLoss loss,
                     std::span<const double> teacher_scores, std::span<const double> scores,
                     std::span<double> slope);

}  // namespace onset::aim
