// Shared by the readers and writers of the wire protocol: the words of enums, ids, and lines.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "json/strict.hpp"
#include "takt/motion/wire.hpp"

namespace takt::motion::wire {

using trajectory::Synchronisation;
using trajectory::Through;

/// A document to write, whose keys stay in their order.
using Out = nlohmann::ordered_json;

inline constexpr std::uint64_t largest_exact = std::uint64_t{1} << 53;  // exact in every JSON reader

template <class Enum, std::size_t N>
using Words = std::array<std::pair<std::string_view, Enum>, N>;

inline constexpr Words<Through, 5> through_words{{{"stop", Through::stop},
                                                  {"given", Through::given},
                                                  {"smooth", Through::smooth},
                                                  {"cubic", Through::cubic},
                                                  {"monotone", Through::monotone}}};
inline constexpr Words<AtEnd, 2> at_end_words{{{"rest", AtEnd::rest}, {"stop", AtEnd::stop}}};
inline constexpr Words<StopAt, 2> stop_words{{{"now", StopAt::now}, {"path", StopAt::path}}};
inline constexpr Words<OnDisconnect, 2> on_disconnect_words{
    {{"stop", OnDisconnect::stop}, {"continue", OnDisconnect::proceed}}};
inline constexpr Words<WhenBusy, 3> when_busy_words{
    {{"splice", WhenBusy::splice}, {"queue", WhenBusy::queue}, {"reject", WhenBusy::reject}}};
inline constexpr Words<Synchronisation, 2> synchronise_words{
    {{"time", Synchronisation::time}, {"phase", Synchronisation::phase}}};

/// The JSON text of an id. Nothing if it is not a string or a number.
inline std::optional<std::string> id_text(const json::Value& value) {
  constexpr std::size_t longest = 128;
  if (!value.is_string() && !value.is_number()) return std::nullopt;
  std::string text = value.dump();
  if (text.size() > longest) return std::nullopt;
  return text;
}

inline void put_id(Out& out, const std::string& id) {
  if (!id.empty()) out["id"] = Out::parse(id, nullptr, false);
}

/// The document as a line. Bytes that are not UTF-8 are replaced.
inline std::string finish(const Out& document) {
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

}  // namespace takt::motion::wire
