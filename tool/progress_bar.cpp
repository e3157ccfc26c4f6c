#include "tool/progress_bar.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace onset::tool {
namespace {

constexpr auto redraw_interval = std::chrono::milliseconds(100);
/// Short runs show no bar at all.
constexpr auto first_delay = std::chrono::milliseconds(300);
constexpr int bar_width = 30;
constexpr std::size_t line_width = 79;

void put(std::string_view text) {
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

ProgressBar::ProgressBar(bool quiet)
    : enabled_(!quiet && isatty(STDERR_FILENO) == 1),
      next_(std::chrono::steady_clock::now() + first_delay) {}

void ProgressBar::show(double fraction, std::string_view what) {
  if (!enabled_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + redraw_interval;
  // This is written so that NaN becomes 0.
  const double shown = fraction > 0.0 ? std::min(fraction, 1.0) : 0.0;
  const int filled = static_cast<int>(shown * bar_width);
  std::string line =
      fmt::format("[{:<{}}] {:3.0f}%  {}", std::string(static_cast<std::size_t>(filled), '#'),
                  bar_width, 100.0 * shown, what);
  line.resize(std::min(line.size(), line_width));
  put("\r" + line + "\x1b[K");
  drawn_ = true;
}

void ProgressBar::clear() {
  if (drawn_) put("\r\x1b[K");
  drawn_ = false;
}

}  // namespace onset::tool
