#include "mha/model/certificate.hpp"

#include <bit>

namespace onset::mha {
namespace {

class Digest {
 public:
  void add(std::uint64_t word) { hash_ = (hash_ ^ word) * 1099511628211ULL; }
  void add(const std::vector<double>& values) {
    for (const double value : values) add(std::bit_cast<std::uint64_t>(value));
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 14695981039346656037ULL;
};

}  // namespace

std::string to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::certified: return "certified";
    case Verdict::recovered: return "recovered";
    case Verdict::refused: return "refused";
  }
  return "refused";
}

std::uint64_t digest_of(const Examples& examples) {
  Digest digest;
  digest.add(static_cast<std::uint64_t>(examples.tokens));
  digest.add(static_cast<std::uint64_t>(examples.dim));
  for (const std::int8_t value : examples.x) {
    digest.add(static_cast<std::uint64_t>(static_cast<std::uint8_t>(value)));
  }
  digest.add(examples.real_x);
  digest.add(examples.y);
  return digest.value();
}

std::uint64_t digest_of(const Layer& layer) {
  Digest digest;
  digest.add(static_cast<std::uint64_t>(layer.dim));
  digest.add(layer.theta);
  digest.add(layer.w);
  return digest.value();
}

}  // namespace onset::mha
