#include "aim/verbs/flow_rows.hpp"

#include <cmath>

#include "aim/verbs/model_fields.hpp"
#include "aim/verbs/student_fields.hpp"

namespace onset::aim {

Columns<FlowRow> flow_columns(const FlowModel& model) {
  Columns<FlowRow> columns;
  columns.add("time", &FlowRow::time, flow_time_meaning);
  if (model.rate > 0.0) columns.add("alpha", &FlowRow::alpha, data_alpha_meaning);
  columns.add("risk", &FlowRow::risk, "mean loss on a new sample")
      .add("mse", &FlowRow::mse, "||S_student - S||_F^2/d")
      .add("q", &FlowRow::q, "overlap Tr(S_student S)/d with the teacher")
      .add("p", &FlowRow::p, "Tr S_student^2/d, of the symmetric part");
  if (model.student == Student::untied) {
    columns.add("p_anti", &FlowRow::anti,
                "squared norm over d of the antisymmetric part of an untied student");
  }
  columns.add("trace", &FlowRow::trace, "Tr S_student/d")
      .add("alignment", &FlowRow::alignment,
           "cosine of student and teacher without their traces; empty for a multiple of the "
           "identity");
  if (model.labels.channel == &hardmax_channel()) {
    columns.add("disagreement", &FlowRow::disagreement,
                "share of rows of hardmax labels that the student labels otherwise");
  }
  if (model.rate > 0.0) {
    columns.add("mmse", &FlowRow::mmse, "least possible mse from as many samples");
  }
  return columns;
}

FlowModel with_every_column() {
  FlowModel model;
  model.labels.channel = &hardmax_channel();
  model.loss = SgdLoss::cross_entropy;
  model.student = Student::untied;
  model.rate = 1.0;
  return model;
}

FlowRow flow_row(const FlowEstimates& student) {
  const auto known = [&](FlowNumber which) -> std::optional<Estimate> {
    const Estimate& x = student[which];
    return std::isfinite(x.value) ? std::optional(x) : std::nullopt;
  };
  FlowRow row;
  row.risk = student[FlowNumber::risk];
  row.mse = student[FlowNumber::mse];
  row.q = student[FlowNumber::q];
  row.p = student[FlowNumber::p];
  row.anti = student[FlowNumber::anti];
  row.trace = student[FlowNumber::trace];
  row.alignment = known(FlowNumber::alignment);
  row.disagreement = known(FlowNumber::disagreement);
  return row;
}

}  // namespace onset::aim
