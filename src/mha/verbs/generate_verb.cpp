#include "core/definition.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "io/arrays.hpp"
#include "mha/verbs/array_files.hpp"
#include "mha/verbs/instance_fields.hpp"
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
      .add("shape", &FileRow::shape, "shape of the array")
      .add("type", &FileRow::type, "type of its entries");
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
  const double entry = law.inputs == Inputs::boolean ? 9.0 : 16.0;
  return {"Independent tokens, and the layer's outputs on them.",
          4e-9 * entries * law.heads * (law.dim + law.tokens), 3.0 * entry * entries};
}

}  // namespace

VerbOf<Generate> Generate::verb() {
  Definition<Generate, InstanceLaw> d;
  d.family = "mha";
  d.name = "generate";
  d.summary = "random examples of a multi-head attention layer";
  d.details = prose(R"(
      Tokens are uniform on {-1, 1}^d, or standard normal (`inputs = gaussian`), and labels are F(X) = sum_i softmax(X theta_i X^T) X w_i;
      the entries of theta_i and w_i are independent and normal with standard deviations s/d and
      1/sqrt(d). X.npy and Y.npy (N x k x d) are written into the folder `out`, and the layer (m
      x d x d) into its folder truth, where learning does not look.)");
  d.fields = instance_fields<Generate>();
  d.rows = {{"", file_columns().list()}};
  d.needs_folder = true;
  d.method = 2;
  d.examples = {"mha generate --heads 2 --dim 8 --tokens 3 --samples 100000 --out examples"};
  d.settle = settle_instance<Generate>;
  d.cost = generate_cost;
  d.run = run_generate;
  return d.verb();
}

}  // namespace onset::mha
