#pragma once

#include <chrono>
#include <string_view>

namespace onset::tool {

/// A line on stderr that is redrawn now and then; silent unless stderr is a terminal.
class ProgressBar {
 public:
  explicit ProgressBar(bool quiet);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() { clear(); }

  void show(double fraction, std::string_view what);
  void clear();

 private:
  bool enabled_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace onset::tool
