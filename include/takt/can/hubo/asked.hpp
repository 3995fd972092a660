// Currents and parameters come back under one identifier, and nothing in the frame says which: only what was asked does. This
// remembers it, one question for each board at a time.
//
//     if (asked.ask(hubo::parameter_request(board, page, motor), now)) bus.send(...);
//     ...
//     if (const auto question = asked.answered(frame, now)) {    // of 0x1C0+board: what it answers
//       if (question->code == hubo::CommandCode::current) decode_into(currents, frame, kind);
//       ...
//
// A late answer of a question that was given up would be taken for that of the next one: choose the patience well above what a
// board takes. Pure; real-time safe.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "takt/can/hubo/command.hpp"
#include "takt/can/hubo/frame.hpp"
#include "takt/core/time.hpp"

namespace takt::can::hubo {

class Asked {
 public:
  /// How long an answer is waited for.
  explicit constexpr Asked(Duration patience) noexcept : patience_(patience) {}

  /// Whether this request may be sent now: no other one of this board waits for its answer. If so it is remembered. Requests
  /// whose answers speak for themselves (status, encoder) may always be sent, and are not; nor are those of boards that do not
  /// exist.
  [[nodiscard]] constexpr bool ask(const Command& request, Time now) noexcept {
    if (request.code != CommandCode::current && request.code != CommandCode::read_parameter) return true;
    if (request.board > max_board) return true;
    Question& question = questions_[request.board];
    if (question.open && now - question.since <= patience_) return false;
    question = {request, now, true};
    return true;
  }

  /// The request that this frame answers. Nothing, if nobody asked, or too long ago, or the frame is no answer of this kind.
  [[nodiscard]] constexpr std::optional<Command> answered(const Frame& frame, Time now) noexcept {
    if (!detail::check_origin(frame, current_base)) return std::nullopt;
    Question& question = questions_[frame.id - current_base];
    if (!question.open) return std::nullopt;
    question.open = false;
    if (now - question.since > patience_) return std::nullopt;
    return question.request;
  }

 private:
  struct Question {
    Command request;
    Time since{};
    bool open = false;
  };

  Duration patience_;
  std::array<Question, max_board + 1> questions_{};
};

}  // namespace takt::can::hubo
