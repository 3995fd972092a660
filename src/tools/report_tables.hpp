// The machine-readable part of a report: joints.csv, events.csv, buses.csv, log.csv and summary.json.
#pragma once

#include <filesystem>
#include <string>

#include "takt/core/setup_error.hpp"
#include "tools/report_data.hpp"

namespace takt::tools {

/// Writes every cycle, event, bus record and log line as CSV into `directory`. Times are seconds since the
/// first cycle, positions rad or m as recorded. Errors: those of record::Reader, write_failed.
[[nodiscard]] SetupResult<void> write_csv(const RecordingPlace& recording, const ReportData& data,
                                          const std::filesystem::path& directory);

/// The statistics as JSON: microseconds, and degrees or millimetres, as the members' names show. The member
/// all_moving_joints has rotary joints only.
[[nodiscard]] std::string summary_json(const ReportData& data);

/// Writes a whole file. Errors: write_failed, with the operating system's reason.
[[nodiscard]] SetupResult<void> write_file(const std::filesystem::path& path, std::string_view contents);

}  // namespace takt::tools
