#include "tools/gnuplot.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "takt/record/error.hpp"

namespace takt::tools {
namespace {

constexpr const char* log_name = "gnuplot.log";

/// Starts gnuplot; the error is errno's.
int spawn_gnuplot(const std::vector<std::string>& scripts, const std::filesystem::path& directory,
                  pid_t& child) {
  std::vector<std::string> arguments{"gnuplot"};
  arguments.insert(arguments.end(), scripts.begin(), scripts.end());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log_name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
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
  return fmt::format("set terminal svg size {},{} dynamic {} font 'Helvetica,Arial,sans-serif,13'\n", width,
                     height, common);
}

void PlotScript::style() {
  add("set encoding utf8\nset border 3 linewidth 1 linecolor rgb '{}'\n", ink);
  add("set tics nomirror out scale 0.6 textcolor rgb '{}'\n", ink);
  add("set grid back linewidth 0.7 linetype 1 linecolor rgb '{}'\n", rule);
  add("set key above right horizontal Left reverse samplen 1.6 spacing 1 textcolor rgb '{}'\n", ink);
  add("set style fill solid 1 noborder\n");
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

SetupResult<void> run_gnuplot(const std::vector<std::string>& scripts,
                              const std::filesystem::path& directory) {
  pid_t child = 0;
  const int error = spawn_gnuplot(scripts, directory, child);
  if (error == ENOENT) {
    return fail(record::Errc::write_failed,
                "gnuplot is not installed, so there are no plots (on Debian: apt-get install gnuplot-nox)");
  }
  if (error != 0) return fail(record::Errc::write_failed, fmt::format("gnuplot: {}", std::strerror(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(record::Errc::write_failed, "gnuplot failed: see " + (directory / log_name).string());
}

}  // namespace takt::tools
