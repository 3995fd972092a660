// What takt run says at its end.
#pragma once

#include <string>

namespace takt::app {
class Robot;
struct RunTotals;
}  // namespace takt::app

namespace takt::tools {

/// Cycles, their timing, and the load of the buses.
[[nodiscard]] std::string summary(app::Robot& robot);
/// What was recorded and traced.
[[nodiscard]] std::string text_of(const app::RunTotals& totals, const std::string& recording);
/// Why the run did not end as it should: a fault, or a recording that lacks records. Empty: it did.
[[nodiscard]] std::string complaints(const app::Robot& robot, const app::RunTotals& totals,
                                     const std::string& recording);

}  // namespace takt::tools
