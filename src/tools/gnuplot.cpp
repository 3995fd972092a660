#include "tools/gnuplot.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>

#include "takt/record/error.hpp"

namespace takt::tools {
namespace {

/// A single-quoted string of gnuplot, in which only the quote has a meaning.
std::string quoted(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '\'' ? "''" : std::string(1, c);
  return result;
}

/// Starts gnuplot; the error is errno's.
int spawn_gnuplot(const std::vector<std::string>& scripts, const std::filesystem::path& directory,
                  const std::optional<std::string>& log, pid_t& child) {
  std::vector<std::string> arguments{"gnuplot"};
  arguments.insert(arguments.end(), scripts.begin(), scripts.end());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (log) {
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log->c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0644);
  }
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  const int error = posix_spawnp(&child, "gnuplot", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

std::string terminal_of(std::string_view kind, int width, int height) {
  constexpr std::string_view common = "noenhanced background '#ffffff'";
  if (kind == "pdf") {
    constexpr double points_per_inch = 72;
    // Widths and sizes of letters as in the SVG.
    return fmt::format(
        "set terminal pdfcairo size {:.3f},{:.3f} {} linewidth 2 fontscale 0.75 font 'Helvetica,13'\n",
        width / points_per_inch, height / points_per_inch, common);
  }
  if (kind == "png")
    return fmt::format("set terminal pngcairo size {},{} {} font 'Helvetica,10'\n", width, height, common);
  return fmt::format("set terminal svg size {},{} dynamic {} font 'Helvetica,Arial,sans-serif,13'\n", width,
                     height, common);
}

PlotScript::PlotScript(std::string_view file, int width, int height) {
  add("{}set output '{}'\n", terminal_of(file.ends_with(".png") ? "png" : "svg", width, height),
      quoted(file));
  style();
}

void PlotScript::style() {
  add("set encoding utf8\nset border 3 linewidth 1 linecolor rgb '{}'\n", ink);
  add("set tics nomirror out scale 0.6 textcolor rgb '{}'\n", ink);
  add("set grid back linewidth 0.7 linetype 1 linecolor rgb '{}'\n", rule);
  add("set key above right horizontal Left reverse samplen 1.6 spacing 1 textcolor rgb '{}'\n", ink);
  add("set style fill solid 1 noborder\n");
}

void PlotScript::panel(const Panel& panel, double right) {
  add("set tmargin at screen {}\nset bmargin at screen {}\nset rmargin at screen {}\n", panel.top,
      panel.bottom, right);
}

void PlotScript::data(std::string_view name, const Envelope& curve) {
  add("${} << EOD\n", name);
  bool any = false;
  for (const Envelope::Point& point : curve.points()) {
    if (std::isnan(point.value)) {
      add("\n");
    } else {
      add("{:.6f} {:.6g}\n", point.time, point.value);
      any = true;
    }
  }
  if (!any) add("NaN NaN\n");
  add("EOD\n");
}

void PlotScript::axis(char which, std::string_view label) {
  add("set {}label '{}' textcolor rgb '{}'\n", which, label, ink);
}

void PlotScript::value_range(std::initializer_list<const Envelope*> curves, bool with_zero) {
  double low = with_zero ? 0 : std::numeric_limits<double>::infinity();
  double high = with_zero ? 0 : -low;
  for (const Envelope* curve : curves) {
    for (const Envelope::Point& point : curve->points()) {
      if (std::isnan(point.value)) continue;
      low = std::min(low, point.value);
      high = std::max(high, point.value);
    }
  }
  if (!(low <= high)) low = high = 0;
  value_range(low, high);
}

void PlotScript::value_range(double low, double high) {
  const double span = std::max(high - low, 1e-3);
  const double power = std::pow(10.0, std::floor(std::log10(span / 4)));
  const double step = power * (span / 4 < 1.5 * power   ? 1
                               : span / 4 < 3.5 * power ? 2
                               : span / 4 < 7.5 * power ? 5
                                                        : 10);
  const double room = 0.08 * span;
  add("set yrange [{:.9g}:{:.9g}]\nset ytics {:.9g}\n", low - room, high + room, step);
}

SetupResult<void> run_gnuplot(const std::vector<std::string>& scripts, const std::filesystem::path& directory,
                              const std::optional<std::string>& log) {
  pid_t child = 0;
  const int error = spawn_gnuplot(scripts, directory, log, child);
  if (error == ENOENT) {
    return fail(record::Errc::write_failed,
                "gnuplot is not installed, so there are no plots (on Debian: apt-get install gnuplot-nox)");
  }
  if (error != 0) return fail(record::Errc::write_failed, fmt::format("gnuplot: {}", std::strerror(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  const std::string failed = "gnuplot failed";
  return fail(record::Errc::write_failed, log ? failed + ": see " + (directory / *log).string() : failed);
}

}  // namespace takt::tools
