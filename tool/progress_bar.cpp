#include "tool/progress_bar.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace onset::tool {
namespace {

constexpr auto redraw_interval = std::chrono::milliseconds(200);
/// Short runs show no bar at all.
constexpr auto first_delay = std::chrono::milliseconds(300);
constexpr int bar_width = 30;
constexpr std::size_t line_width = 79;
/// How far the bar is once the estimated time is over: 1 - exp(-1.5) = 78 %.
constexpr double pace = 1.5;
/// A bar that shows 100 % while the run goes on would lie.
constexpr double most_shown = 0.99;

void put(std::string_view text) {
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
}

/// "about 40 s left", or nothing where nothing is known.
std::string time_left(double seconds) {
  constexpr double minute = 60.0, hour = 3600.0;
  if (seconds >= 2.0 * hour) return fmt::format("about {:.0f} h left", seconds / hour);
  if (seconds >= 2.0 * minute) return fmt::format("about {:.0f} min left", seconds / minute);
  return seconds > 0.0 ? fmt::format("about {:.0f} s left", std::ceil(seconds)) : std::string{};
}

}  // namespace

void ProgressState::report(double fraction, std::string_view what) {
  // This is written so that NaN changes nothing.
  if (fraction > reported_) reported_ = std::min(fraction, 1.0);
  what_ = what;
}

std::string ProgressState::line(double seconds) {
  const bool timed = expected_ > 0.0;
  const double fraction = timed ? 1.0 - std::exp(-pace * seconds / expected_) : reported_;
  shown_ = std::max(shown_, std::min(fraction, most_shown));
  const int filled = static_cast<int>(shown_ * bar_width);
  const std::string left = timed ? time_left(expected_ - seconds) : std::string{};
  std::string line = fmt::format(
      "[{:<{}}] {:3.0f}%  {}{}{}", std::string(static_cast<std::size_t>(filled), '#'), bar_width,
      100.0 * shown_, left, left.empty() || what_.empty() ? "" : ": ", what_);
  line.resize(std::min(line.size(), line_width));
  return line;
}

ProgressBar::ProgressBar(bool quiet, double expected_seconds)
    : enabled_(!quiet && isatty(STDERR_FILENO) == 1), state_(expected_seconds) {
  if (enabled_)
    painter_ = std::jthread([this](const std::stop_token& s) { draw_until_stopped(s); });
}

void ProgressBar::draw_until_stopped(const std::stop_token& stop) {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  const auto pause = [&](std::chrono::milliseconds time) {
    return !changed_.wait_for(lock, stop, time, [] { return false; }) && stop.stop_requested();
  };
  bool drawn = false;
  for (bool stopped = pause(first_delay); !stopped; stopped = pause(redraw_interval)) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    put(fmt::format("\r{}\x1b[K", state_.line(spent.count())));
    drawn = true;
  }
  if (drawn) put("\r\x1b[K");
}

void ProgressBar::show(double fraction, std::string_view what) {
  if (!enabled_) return;
  const std::lock_guard lock(mutex_);
  state_.report(fraction, what);
}

void ProgressBar::clear() {
  if (!painter_.joinable()) return;
  painter_.request_stop();
  painter_.join();
}

}  // namespace onset::tool
