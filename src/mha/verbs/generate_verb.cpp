#include "core/definition.hpp"
#include "core/rows.hpp"
#include "io/arrays.hpp"
#include "mha/verbs/array_files.hpp"
#include "mha/verbs/instance_fields.hpp"
#include "mha/verbs/mha_verbs.hpp"
#include "onset/mha.hpp"

namespace onset::mha {
namespace {

struct FileRow {
  std::string file;
  std::string shape;
  std::string type;
};

Columns<FileRow> file_columns() {
  return Columns<FileRow>()
      .add("file", &FileRow::file, "what was written")
      .add("shape", &FileRow::shape, "of the array")
      .add("type", &FileRow::type, "of its entries");
}

void run_generate(const Generate& request, const InstanceLaw& law, const Context& context,
                  Result& result) {
  const Layer layer = draw_layer(law, request.seed);
  const Examples examples = draw_examples(law, layer, static_cast<std::size_t>(request.samples),
                                          request.seed, "mha examples", context);
  add_examples(examples, result.artifacts);
  add_layer(layer, "truth/", result.artifacts);
  const auto columns = file_columns();
  for (const Artifact& artifact : result.artifacts) {
    const Array& array = std::get<Array>(artifact.content);
    const bool whole = std::holds_alternative<std::vector<std::int8_t>>(array.values);
    result.table.add_row(columns.cells({.file = artifact.path,
                                        .shape = io::shape_text(array.shape),
                                        .type = whole ? "int8" : "float64"}));
  }
}

Cost generate_cost(const Generate& request, const InstanceLaw& law) {
  const double entries = static_cast<double>(request.samples) * law.tokens * law.dim;
  // The arrays, and their copies on the way to the files.
  return {"Independent signs, and the layer's outputs on them.",
          4e-9 * entries * law.heads * (law.dim + law.tokens), 3.0 * 9.0 * entries};
}

Definition<Generate, InstanceLaw> definition() {
  Definition<Generate, InstanceLaw> d;
  d.family = "mha";
  d.name = "generate";
  d.summary = "random Boolean examples of a multi-head attention layer";
  d.details =
      "Tokens are uniform on {-1, 1}^d and labels are F(X) = sum_i softmax(X theta_i X^T) X w_i, "
      "with theta_i of independent normal entries of standard deviation s/d and w_i of 1/sqrt(d). "
      "Writes X.npy and Y.npy (N x k x d) into --out, and the layer (m x d x d) into its folder "
      "truth, so that learning cannot see it.";
  d.fields = instance_fields<Generate>();
  d.rows = {{"", file_columns().list()}};
  d.needs_folder = true;
  d.examples = {"mha generate --heads 2 --dim 8 --tokens 3 --samples 100000 --out examples"};
  d.settle = settle_instance<Generate>;
  d.cost = generate_cost;
  d.run = run_generate;
  return d;
}

}  // namespace

Call Generate::settle() const {
  return definition().settle_request(*this);
}

Result Generate::run(const Context& context) const {
  return definition().run_request(*this, context);
}

Verb generate_verb() {
  return definition().verb();
}

}  // namespace onset::mha
