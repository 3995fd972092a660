// Makes names and labels of a recording harmless, since they come from outside: for HTML, gnuplot labels,
// file names and CSV cells.
#pragma once

#include <string>
#include <string_view>

namespace takt::tools {

/// Valid UTF-8 without control characters: anything else becomes U+FFFD.
[[nodiscard]] std::string printable(std::string_view text);

/// Escaped for HTML text and attribute values in double quotes.
[[nodiscard]] std::string html(std::string_view text);

/// Escaped for a single-quoted gnuplot string, in which gnuplot substitutes nothing. Quotes become
/// typographic ones, and long texts are cut.
[[nodiscard]] std::string plot_label(std::string_view text);

/// For a part of a file name: letters, digits, '-' and '_', at most 40 of them.
[[nodiscard]] std::string file_stem(std::string_view text);

/// One cell of a CSV file (RFC 4180).
[[nodiscard]] std::string csv_cell(std::string_view text);

/// Microseconds for people: "740 ns", "12.3 µs", "4.56 ms", "1.20 s".
[[nodiscard]] std::string duration_text(double microseconds);

}  // namespace takt::tools
