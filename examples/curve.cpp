// How well can a full-width attention matrix be learned from n = alpha d^2 samples, at best?

#include <cstdio>

#include "onset/onset.hpp"

int main() {
  onset::aim::Curve request;
  request.channel = "softmax";
  request.tokens = 2;
  request.rho = 0.5;
  for (int i = 1; i <= 16; ++i) request.alpha.push_back(0.01 * i);

  const onset::Result result = request.run();
  std::fputs(onset::io::to_table(result).c_str(), stdout);
  return result.status == onset::ResultStatus::ok ? 0 : 1;
}
