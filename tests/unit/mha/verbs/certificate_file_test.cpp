#include "mha/verbs/certificate_file.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "unit/mha/certified_layer.hpp"

namespace onset::mha {
namespace {

using Json = nlohmann::ordered_json;

/// Every number of the document; of long lists the first, the middle and the last entry.
void collect_numbers(const Json& json, const Json::json_pointer& at,
                     std::vector<Json::json_pointer>& out) {
  if (json.is_number()) out.push_back(at);
  if (json.is_object()) {
    for (const auto& entry : json.items()) collect_numbers(entry.value(), at / entry.key(), out);
  }
  if (json.is_array() && !json.empty()) {
    for (const std::size_t i : {std::size_t{0}, json.size() / 2, json.size() - 1}) {
      collect_numbers(json[i], at / i, out);
    }
  }
}

/// A different number: the next one, well above rounding, or not even whole.
std::vector<Json> falsified(const Json& number) {
  if (number.is_number_integer()) {
    return {number.get<std::int64_t>() + 1, number.get<std::int64_t>() - 1,
            number.get<double>() + 0.5};
  }
  return {number.get<double>() * 1.001 + 1e-5, -number.get<double>() - 1e-5, nullptr};
}

class MhaCertificate : public testing::CertifiedLayer {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("onset-mha-" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
               "-" + ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// Whether the document, as a file, is taken for a certificate that holds.
  bool is_believed(const Json& json) {
    std::ofstream(certificate_path(folder_)) << json.dump();
    try {
      return failures(read_certificate(folder_), model(), *examples_).empty();
    } catch (const IoError&) {
      return false;
    } catch (const InvalidArgument&) {
      return false;
    }
  }

  std::filesystem::path folder_;
};

TEST_F(MhaCertificate, NoNumberOfItCanBeChangedUnnoticed) {
  const Json honest = Json::parse(certificate_text(certificate()));
  ASSERT_TRUE(is_believed(honest));
  std::vector<Json::json_pointer> numbers;
  collect_numbers(honest, Json::json_pointer(), numbers);
  EXPECT_GT(numbers.size(), 35U);
  for (const Json::json_pointer& place : numbers) {
    for (const Json& lie : falsified(honest.at(place))) {
      Json forged = honest;
      forged[place] = lie;
      EXPECT_FALSE(is_believed(forged)) << place.to_string() << ": " << lie;
    }
  }
}

TEST_F(MhaCertificate, NoPartOfItCanBeLeftOutOrAddedUnnoticed) {
  const Json honest = Json::parse(certificate_text(certificate()));
  for (const auto& entry : honest.items()) {
    Json forged = honest;
    forged.erase(entry.key());
    EXPECT_FALSE(is_believed(forged)) << entry.key();
  }
  Json more = honest;
  more["evidence"]["hull_bound"] = 0.0;
  EXPECT_FALSE(is_believed(more));
  for (const char* digest : {"/examples/digest", "/model/layer", "/model/geometry"}) {
    Json forged = honest;
    forged[Json::json_pointer(digest)] = "0123456789abcdef";
    EXPECT_FALSE(is_believed(forged)) << digest;
  }
}

TEST_F(MhaCertificate, ANameThatAnObjectHasTwiceIsRefused) {
  const std::string honest = certificate_text(certificate());
  for (const char* name : {"verdict", "gap", "slabs"}) {
    const std::string word = '"' + std::string(name) + "\":";
    const std::size_t place = honest.find(word);
    ASSERT_NE(place, std::string::npos);
    std::string forged = honest;
    std::ofstream(certificate_path(folder_)) << forged.insert(place, word + " 0, ");
    try {
      (void)read_certificate(folder_);
      ADD_FAILURE() << name << " may be there twice";
    } catch (const IoError& error) {
      EXPECT_NE(std::string(error.what()).find("has '" + std::string(name) + "' twice"),
                std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace onset::mha
