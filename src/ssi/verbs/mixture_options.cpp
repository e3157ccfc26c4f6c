#include "ssi/verbs/mixture_options.hpp"

#include "ssi/verbs/model_options.hpp"

namespace onset::ssi {

std::vector<Parameter> mixture_parameters() {
  return {make_parameter("a", ParameterKind::real, {}, 0.0, max_a,
                         "Strength a of the positional part of the target; with --omega."),
          make_parameter("omega", ParameterKind::real, {}, 0.0, 1.0,
                         "Weight omega of the positional part; with --a.")};
}

SequenceModel read_model_or_mixture(const Parameters& p) {
  const Loss loss = read_loss(p);
  if (is_mixture(p)) return mixture_model(p.real("a"), p.real("omega"), loss);
  SequenceModel model = read_model(p).model;
  model.loss = loss;
  return model;
}

}  // namespace onset::ssi
