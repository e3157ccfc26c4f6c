// A link as one would write it down: when are the two directions of y = sign(z1) z2 learned, and
// how well? Neither is seen by itself, so that they grow together.

#include <cstdio>

#include "onset/onset.hpp"

int main() {
  const onset::Context context{.threads = 2};
  onset::smi::Thresholds thresholds;
  thresholds.link = "sign(z1)*z2";
  thresholds.stages = 1;  // the later ones take a minute
  const onset::Result first = thresholds.run(context);
  std::fputs(onset::io::to_table(first).c_str(), stdout);

  onset::smi::Curve curve;
  curve.link = thresholds.link;
  curve.alpha = {0.3, 0.6};  // below the first threshold, and above it
  curve.tol = 0.01;
  const onset::Result overlaps = curve.run(context);
  std::fputs(onset::io::to_table(overlaps).c_str(), stdout);
  const bool is_ok =
      first.status == onset::ResultStatus::ok && overlaps.status == onset::ResultStatus::ok;
  return is_ok ? 0 : 1;
}
