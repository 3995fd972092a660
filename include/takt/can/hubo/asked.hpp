// Remembers the request to each board, one at a time. Currents and parameters have the same identifier, and
// only the request tells which of them a frame contains.
//
//     const hubo::Command request = hubo::parameter_request(board, page, motor);
//     if (asked.ask(request, now)) send(hubo::encode(request));
//
//     if (const auto question = asked.answered(frame, now))  // of 0x1C0+board: what it answers
//       if (question->code == hubo::CommandCode::current) (void)decode_into(currents, frame, kind);
//
// A late answer to an expired request would be taken for that of the next one. Choose a timeout well above a
// board's response time. Pure; real-time safe. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "takt/can/hubo/command.hpp"
#include "takt/can/hubo/frame.hpp"
#include "takt/core/time.hpp"

namespace takt::can::hubo {

/// The open requests of all boards of a bus.
class Asked {
 public:
  /// Argument `patience`: the timeout for an answer.
  explicit constexpr Asked(Duration patience) noexcept : patience_(patience) {}

  /// Returns whether this request may be sent now, and remembers it. False while another request of the board
  /// is open. Requests with unambiguous answers (status, encoder), and requests to boards that do not exist,
  /// return true. They are not remembered.
  [[nodiscard]] constexpr bool ask(const Command& request, Time now) noexcept {
    if (request.code != CommandCode::current && request.code != CommandCode::read_parameter) return true;
    if (request.board > max_board) return true;
    Question& question = questions_[request.board];
    if (question.open && now - question.since <= patience_) return false;
    question = {request, now, true};
    return true;
  }

  /// Returns the request that this frame answers, and closes it. Returns nullopt without an open request,
  /// after the timeout, and for frames of other identifiers.
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
