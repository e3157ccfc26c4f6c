#include "onset/core/context.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "core/cgroup.hpp"
#include "onset/core/error.hpp"

namespace onset {
namespace {

namespace fs = std::filesystem;

TEST(Context, CheckThrowsOnceAStopIsRequested) {
  std::stop_source source;
  Context context;
  context.stop = source.get_token();
  EXPECT_NO_THROW(context.check());
  source.request_stop();
  EXPECT_THROW(context.check(), Interrupted);
}

TEST(Context, ReportsOnlyWhenSomebodyListens) {
  Context context;
  EXPECT_NO_THROW(context.report(0.5, "half"));
  double seen = 0.0;
  context.progress = [&](double fraction, std::string_view) { seen = fraction; };
  context.report(0.5, "half");
  EXPECT_EQ(seen, 0.5);
}

TEST(Context, SlurmLimitsTheThreadsAndNonsenseIsIgnored) {
  unsetenv("SLURM_CPUS_PER_TASK");
  const int threads = available_threads();
  EXPECT_GE(threads, 1);
  setenv("SLURM_CPUS_PER_TASK", "1", 1);
  EXPECT_EQ(available_threads(), 1);
  for (const char* nonsense : {"0", "-3", "2(x4)", "many", "999999999999"}) {
    setenv("SLURM_CPUS_PER_TASK", nonsense, 1);
    EXPECT_EQ(available_threads(), threads) << nonsense;
  }
  unsetenv("SLURM_CPUS_PER_TASK");
}

TEST(Context, SomeMemoryIsAvailable) {
  EXPECT_GT(available_memory(), std::size_t{1} << 20);
}

/// A made-up tree of control groups.
class Cgroup : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::path(testing::TempDir()) / (std::string("onset_cgroup_") + test->name());
    fs::remove_all(root_);
    files_ = {root_ / "membership", root_ / "mount"};
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const fs::path& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << '\n';
  }

  fs::path root_;
  detail::CgroupFiles files_;
};

TEST_F(Cgroup, TheTightestLimitOnTheWayUpCounts) {
  write("membership", "0::/job/step");
  write("mount/job/cpu.max", "150000 100000");
  write("mount/job/step/cpu.max", "max 100000");
  write("mount/job/memory.max", "1000000");
  write("mount/job/step/memory.max", "2000000");
  EXPECT_EQ(detail::cgroup_cpu_quota(files_), 1.5);
  EXPECT_EQ(detail::cgroup_memory_limit(files_), 1000000u);
}

TEST_F(Cgroup, InAContainerTheMountItselfCounts) {
  write("membership", "0::/docker/not-there");
  write("mount/cpu.max", "200000 100000");
  EXPECT_EQ(detail::cgroup_cpu_quota(files_), 2.0);
}

TEST_F(Cgroup, TheOldLayoutIsReadToo) {
  write("membership", "4:memory:/job\n3:cpu,cpuacct:/job");
  write("mount/cpu/job/cpu.cfs_quota_us", "50000");
  write("mount/cpu/job/cpu.cfs_period_us", "100000");
  write("mount/cpu/cpu.cfs_quota_us", "-1");
  write("mount/cpu/cpu.cfs_period_us", "100000");
  write("mount/memory/job/memory.limit_in_bytes", "4096");
  EXPECT_EQ(detail::cgroup_cpu_quota(files_), 0.5);
  EXPECT_EQ(detail::cgroup_memory_limit(files_), 4096u);
}

TEST_F(Cgroup, WithoutFilesThereIsNoLimit) {
  EXPECT_EQ(detail::cgroup_cpu_quota(files_), std::nullopt);
  EXPECT_EQ(detail::cgroup_memory_limit(files_), std::nullopt);
}

}  // namespace
}  // namespace onset
