#include "core/plain_verb.hpp"
#include "mha/verbs/files.hpp"
#include "mha/verbs/mha_verbs.hpp"
#include "mha/verbs/options.hpp"

namespace onset::mha {
namespace {

Result run_generate(const Parameters& p, const Context& context) {
  const InstanceLaw law = read_instance(p);
  const auto seed = static_cast<std::uint64_t>(p.integer("seed"));
  const Layer layer = draw_layer(law, seed);
  const Examples examples = draw_examples(
      law, layer, static_cast<std::size_t>(p.integer("samples")), seed, "mha examples", context);
  Result result;
  result.table = Table(generate_verb().columns());
  const std::string shape = std::to_string(examples.count) + " x " + std::to_string(law.tokens) +
                            " x " + std::to_string(law.dim);
  const std::string matrices =
      std::to_string(law.heads) + " x " + std::to_string(law.dim) + " x " + std::to_string(law.dim);
  result.table.add_row({std::string("X.npy"), shape, std::string("int8")});
  result.table.add_row({std::string("Y.npy"), shape, std::string("float64")});
  result.table.add_row({std::string("truth/theta.npy"), matrices, std::string("float64")});
  result.table.add_row({std::string("truth/w.npy"), matrices, std::string("float64")});
  add_examples(examples, result.artifacts);
  add_layer(layer, "truth/", result.artifacts);
  return result;
}

Cost generate_cost(const Parameters& p) {
  const double entries = static_cast<double>(p.integer("samples")) *
                         static_cast<double>(p.integer("tokens") * p.integer("dim"));
  const double work = entries * static_cast<double>(p.integer("heads")) *
                      static_cast<double>(p.integer("dim") + p.integer("tokens"));
  // The arrays, and their copies on the way to the files.
  return {"Independent signs, and the layer's outputs on them.", 4e-9 * work, 3.0 * 9.0 * entries};
}

}  // namespace

Verb generate_verb() {
  PlainVerb verb;
  verb.family = "mha";
  verb.name = "generate";
  verb.summary = "random Boolean examples of a multi-head attention layer";
  verb.details =
      "Tokens are uniform on {-1, 1}^d and labels are F(X) = sum_i softmax(X theta_i X^T) X w_i, "
      "with theta_i of independent normal entries of standard deviation s/d and w_i of 1/sqrt(d). "
      "Writes X.npy and Y.npy (N x k x d) into --out, and the layer (m x d x d) into its folder "
      "truth, so that learning cannot see it.";
  verb.parameters = instance_parameters();
  verb.columns = {{"file", "what was written", "", false},
                  {"shape", "of the array", "", false},
                  {"type", "of its entries", "", false}};
  verb.needs_folder = true;
  verb.examples = {"mha generate --heads 2 --dim 8 --tokens 3 --samples 100000 --out examples"};
  verb.cost = generate_cost;
  verb.run = run_generate;
  return to_verb(std::move(verb));
}

}  // namespace onset::mha
