#include "tools/report.hpp"

#include <fmt/format.h>

#include <memory>
#include <system_error>
#include <utility>

#include "takt/record/error.hpp"
#include "tools/report_data.hpp"
#include "tools/report_html.hpp"
#include "tools/report_plots.hpp"
#include "tools/report_tables.hpp"

namespace takt::tools {

SetupResult<ReportOutcome> make_report(const RecordingPlace& recording,
                                       const std::filesystem::path& directory, const ReportOptions& options) {
  auto data = read_report_data(recording, options.bode_joint);
  if (!data) return tl::unexpected<SetupError>(data.error());
  if (options.against) {
    auto other = read_report_data(*options.against);
    if (!other) return tl::unexpected<SetupError>(other.error());
    data->against = Against{options.against->path, std::make_shared<const ReportData>(std::move(*other))};
  }

  const std::filesystem::path plots = directory / "plots";
  std::error_code error;
  std::filesystem::create_directories(plots, error);
  if (error) return fail(record::Errc::write_failed, plots.string() + ": " + error.message());

  if (auto done = write_csv(recording, *data, directory); !done)
    return tl::unexpected<SetupError>(done.error());
  if (auto done = write_file(directory / "summary.json", summary_json(*data)); !done) {
    return tl::unexpected<SetupError>(done.error());
  }
  const std::vector<Chapter> chapters = make_figures(*data);
  ReportOutcome outcome;
  if (auto drawn = draw(chapters, plots); !drawn) outcome.no_plots = drawn.error().message;
  const std::string page = index_html(*data, chapters, plots, outcome.no_plots, options.library);
  if (auto done = write_file(directory / "index.html", page); !done)
    return tl::unexpected<SetupError>(done.error());
  outcome.sentence = data->is_own
                         ? fmt::format("{} cycles, {} goal events, {} sections", data->cycles,
                                       data->events.size(), data->sections.size())
                         : fmt::format("{} times of {} joints", data->cycles, data->metadata.joints.size());
  if (data->truncated) outcome.sentence += "; the recording was cut off";
  for (const record::LostPart& part : data->lost)
    outcome.sentence += "\ndamaged, and left out: " + part.text(data->start);
  for (const record::LeftOut& one : data->left_out) outcome.sentence += "\nleft out: " + one.text();
  return outcome;
}

}  // namespace takt::tools
