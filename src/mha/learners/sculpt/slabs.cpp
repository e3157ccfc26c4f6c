#include "mha/learners/sculpt/slabs.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/parallel.hpp"

namespace onset::mha {
namespace {

/// Attention below this says little about its logarithm.
constexpr double min_attention = 0.02;
/// Relative tolerances below this are rounding and count as equal, so that the order of the
/// examples decides: the least of them belong to opposite keys, whose slabs span symmetric thetas
/// only.
constexpr double rounding_tolerance = 1e-12;
/// The number of examples per unit of work; it is large, so that what units keep is far less than
/// the examples.
constexpr std::size_t chunk = 8192;

struct Candidate {
  double relative;  // tolerance / |normal|
  Slab slab;
};

bool before(const Candidate& a, const Candidate& b) {
  if (a.relative != b.relative) return a.relative < b.relative;
  if (a.slab.example != b.slab.example) return a.slab.example < b.slab.example;
  return a.slab.query != b.slab.query ? a.slab.query < b.slab.query : a.slab.key < b.slab.key;
}

void keep_smallest(std::vector<Candidate>& list, std::size_t count) {
  if (list.size() <= count) return;
  std::nth_element(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count), list.end(),
                   before);
  list.resize(count);
}

/// The slabs of one fitted row of an example with tokens x: each key that is attended to against
/// the most attended one.
void add_slabs(const Eigen::Ref<const Matrix>& x, std::size_t n, std::size_t a, const RowFit& row,
               std::vector<Candidate>& out) {
  const double score = row.score();
  if (!std::isfinite(score)) return;
  const std::vector<double>& p = row.attention();
  const auto e = static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
  const auto query = x.row(static_cast<Index>(a));
  for (std::size_t c = 0; c < p.size(); ++c) {
    if (c == e || p[c] < min_attention) continue;
    const double apart =
        (x.row(static_cast<Index>(c)) - x.row(static_cast<Index>(e))).squaredNorm();
    if (apart == 0.0) continue;  // for equal keys the slab says nothing about theta
    const double tolerance = score * (1.0 / p[c] + 1.0 / p[e]);
    const double norm = std::sqrt(query.squaredNorm() * apart);
    out.push_back({std::max(tolerance / norm, rounding_tolerance),
                   {static_cast<std::uint32_t>(n), static_cast<std::uint16_t>(a),
                    static_cast<std::uint16_t>(c), static_cast<std::uint16_t>(e),
                    std::log(p[c] / p[e]), tolerance}});
  }
}

}  // namespace

std::vector<Slab> sculpt(const Subset& sample, const Matrix& w, std::size_t count,
                         const Context& context) {
  const std::size_t tokens = sample.tokens();
  const std::size_t dim = sample.dim();
  std::vector<std::vector<Candidate>> found((sample.size() + chunk - 1) / chunk);
  numerics::parallel_for(context, found.size(), [&](std::size_t block) {
    RowFit row(tokens, dim);
    const std::size_t end = std::min(sample.size(), (block + 1) * chunk);
    for (std::size_t begin = block * chunk; begin < end; begin += subset_chunk) {
      const std::size_t stop = std::min(end, begin + subset_chunk);
      const Matrix x = tokens_of(sample, begin, stop);
      const Matrix outputs = x * w;
      for (std::size_t n = begin; n < stop; ++n) {
        if (!row.set_example(outputs.data() + (n - begin) * tokens * dim)) continue;
        for (std::size_t a = 0; a < tokens; ++a) {
          row.fit(sample.y(n) + a * dim);
          add_slabs(
              x.middleRows(static_cast<Index>((n - begin) * tokens), static_cast<Index>(tokens)), n,
              a, row, found[block]);
        }
      }
    }
    keep_smallest(found[block], count);
  });
  std::vector<Candidate> all;
  for (const auto& part : found) all.insert(all.end(), part.begin(), part.end());
  keep_smallest(all, count);
  std::sort(all.begin(), all.end(), before);
  std::vector<Slab> slabs;
  slabs.reserve(all.size());
  for (const Candidate& candidate : all) slabs.push_back(candidate.slab);
  return slabs;
}

Body make_body(const Subset& sample, const std::vector<Slab>& slabs, std::size_t count) {
  const std::size_t dim = sample.dim();
  const std::size_t size = std::min(count, slabs.size());
  Body body{Matrix(static_cast<Index>(size), static_cast<Index>(dim * dim)),
            Vector(static_cast<Index>(size)), Vector(static_cast<Index>(size))};
  std::vector<double> x(sample.examples->width());
  for (std::size_t s = 0; s < size; ++s) {
    const Slab& slab = slabs[s];
    sample.copy_input(slab.example, x.data());
    double* normal = body.normals.data() + s * dim * dim;
    for (std::size_t c = 0; c < dim; ++c) {
      for (std::size_t o = 0; o < dim; ++o) {
        normal[c * dim + o] =
            x[slab.query * dim + c] * (x[slab.key * dim + o] - x[slab.reference * dim + o]);
      }
    }
    body.centre[static_cast<Index>(s)] = slab.centre;
    body.tolerance[static_cast<Index>(s)] = slab.tolerance;
  }
  return body;
}

numerics::LinearProgram body_program(const Body& body, double inflation) {
  const auto unknowns = static_cast<std::size_t>(body.normals.cols());
  numerics::LinearProgram program;
  program.cost.assign(unknowns, 0.0);
  program.lower.assign(unknowns, -numerics::unbounded);
  program.upper.assign(unknowns, numerics::unbounded);
  program.matrix = flat(body.normals);
  for (Index s = 0; s < body.centre.size(); ++s) {
    program.row_lower.push_back(body.centre[s] - inflation * body.tolerance[s]);
    program.row_upper.push_back(body.centre[s] + inflation * body.tolerance[s]);
  }
  return program;
}

double slab_value(const Subset& sample, const Slab& slab, const double* theta) {
  const std::size_t dim = sample.dim();
  std::vector<double> x(sample.examples->width());
  sample.copy_input(slab.example, x.data());
  double sum = 0.0;
  for (std::size_t c = 0; c < dim; ++c) {
    for (std::size_t o = 0; o < dim; ++o) {
      sum += x[slab.query * dim + c] * theta[c * dim + o] *
             (x[slab.key * dim + o] - x[slab.reference * dim + o]);
    }
  }
  return sum;
}

}  // namespace onset::mha
