#include "tools/request_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "platform/descriptor.hpp"
#include "takt/motion/error.hpp"

namespace takt::tools {

SetupResult<std::vector<ScriptedRequest>> load_requests(const std::string& path) {
  const auto unreadable = [&path] {
    return fail(motion::Errc::malformed,
                fmt::format("{}: cannot be read: {}", path, platform::detail::text_of(errno)));
  };
  errno = 0;
  std::ifstream file(path);
  if (!file) return unreadable();
  std::vector<ScriptedRequest> requests;
  std::string text;
  for (std::size_t number = 1; std::getline(file, text); ++number) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    nlohmann::ordered_json request = nlohmann::ordered_json::parse(text, nullptr, false);
    if (!request.is_object()) {
      return fail(motion::Errc::malformed, fmt::format("{}:{}: not a JSON object", path, number));
    }
    const auto at = request.find("at");
    if (at == request.end() || !at->is_number() || !(at->get<double>() >= 0) || at->get<double>() > 1e6) {
      return fail(motion::Errc::malformed,
                  fmt::format("{}:{}: \"at\" must be a number of seconds, 0 to 1000000", path, number));
    }
    const Duration when = from_seconds(at->get<double>());
    request.erase(at);
    requests.push_back({when, request.dump()});
  }
  if (file.bad()) return unreadable();
  std::stable_sort(requests.begin(), requests.end(),
                   [](const ScriptedRequest& a, const ScriptedRequest& b) { return a.at < b.at; });
  return requests;
}

}  // namespace takt::tools
