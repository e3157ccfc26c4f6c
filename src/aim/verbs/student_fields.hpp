#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aim/limits/flow/flow_model.hpp"
#include "aim/limits/flow/risk.hpp"
#include "aim/verbs/model_fields.hpp"
#include "core/fields.hpp"

/// What `aim flow` and `aim sgd` have in common: the fields that describe a student.
namespace onset::aim {

inline constexpr const char* flow_time_meaning =
    "time tau = eta steps/d (learning rate times steps over dimension)";
inline constexpr double max_flow_time = 1e6;

template <class Request>
void add_student_fields(Fields<Request>& fields) {
  fields.edit("beta").text = "Inverse temperature of the student's softmax and of the labels'.";
  fields
      .add_word("student", &Request::student, {Student::direct, Student::tied, Student::untied},
                "What is trained: the symmetric matrix itself, W with S = W W^T, or U and V with "
                "M = U V^T.")
      .add_word("loss", &Request::loss, std::vector{SgdLoss::squared, SgdLoss::cross_entropy},
                "Of a sample, over all entries: half of the squared distance of the labels, or "
                "-sum y log y_student; squared unless given, and cross-entropy for hardmax labels.")
      .add_word("start", &Request::start,
                std::vector{StudentStart::gaussian, StudentStart::identity, StudentStart::zero},
                "Where it starts: normal weights, W W^T = scale I (U V^T = 0), or S = 0; gaussian "
                "unless given, and zero for a direct student.")
      .add("scale", &Request::scale, {.min = 1e-12, .max = 1e6},
           "Size s of the start: S = s times a matrix with the law of a teacher of the student's "
           "width, or s I; 0.3 unless given.")
      .add("width-ratio", &Request::width_ratio, {.min = 1e-3, .max = 1e3},
           "Width ratio kappa = k/d of a student from a gaussian start; `rho` unless given.")
      .add("decay", &Request::decay, {.min = 0.0, .max = 100.0},
           "Weight decay gamma: the loss has (gamma/2d) |weights|^2 besides.");
}

/// Fills what was not given, and builds the model without a rate. Throws InvalidArgument for an
/// option that has no meaning here, and Refused for students that have no limit.
[[nodiscard]] FlowModel settle_student(const AttentionIndexed& labels, Student student,
                                       std::optional<SgdLoss>& loss,
                                       std::optional<StudentStart>& start,
                                       std::optional<double>& scale,
                                       std::optional<double>& width_ratio, double decay);

/// Whether the noise of SGD can be computed: with many tokens it is an integral over too many
/// normals.
[[nodiscard]] bool has_noise(const AttentionIndexed& labels);

/// Throws Refused for a rate at which the teacher is unstable in large dimension, or with which the
/// model has no limit.
void check_rate(const FlowModel& model, const Risk& risk);

}  // namespace onset::aim
