#include "smi/verbs/data_folder.hpp"

#include <gtest/gtest.h>

#include <stop_token>

#include "onset/core/error.hpp"
#include "smi/model/attention_model.hpp"

namespace onset::smi {
namespace {

TEST(SmiDataFolder, FilesAreNotMadeAfterAStop) {
  const auto model = attention_model({});
  const Dataset data = draw_dataset(*model, 4, 10, 1, 0, {});
  EXPECT_FALSE(data_files(*model, data, {}).empty());
  std::stop_source source;
  source.request_stop();
  Context context;
  context.stop = source.get_token();
  EXPECT_THROW((void)data_files(*model, data, context), Interrupted);
}

}  // namespace
}  // namespace onset::smi
