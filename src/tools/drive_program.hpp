// The loop of `takt drive`: twists from keys or a file go to the vehicle; its state goes to the views.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "takt/mobile/pose.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/vehicle/vehicle_drive.hpp"
#include "tools/drive_input.hpp"
#include "tools/drive_publication.hpp"
#include "tools/drive_view.hpp"
#include "tools/printer.hpp"
#include "tools/terminal.hpp"
#include "tools/vehicle_link.hpp"

namespace takt::tools {

/// The outputs besides the terminal.
struct DriveOutputs {
  LogFile log;
  std::optional<DrivePublication> publication;
};

/// The source of twists.
struct DriveInputs {
  KeyDriver keys;
  std::optional<TwistScript> script;  ///< instead of keys
  double duration = 0;                ///< s; 0: until the script ends, a signal, or the key
};

/// Drives a vehicle at the other end of a link, with 50 twists a second. At the end it stops the vehicle.
template <class Drive, class Link>
class DriveProgram {
 public:
  DriveProgram(Drive drive, Link link, DriveInputs inputs, DriveOutputs outputs)
      : drive_(std::move(drive)),
        link_(std::move(link)),
        keys_(inputs.keys),
        script_(std::move(inputs.script)),
        duration_(inputs.duration),
        outputs_(std::move(outputs)) {
    if (outputs_.log.printer) outputs_.log.printer->print(std::string(drive_log_columns));
  }

  /// Whether it ended as requested, with a vehicle that was received.
  bool run(const sigset_t& signals) {
    const RawTerminal terminal;
    const platform::SteadyClock clock;
    start_ = next_ = free_ = clock.now();
    constexpr timespec at_once{};
    bool asked = false;
    while (!asked && !script_over() && !is_abandoned() && !is_unready() && printer_.has_reader()) {
      cycle();
      asked = listen() || sigtimedwait(&signals, nullptr, &at_once) > 0 ||
              (duration_ > 0 && to_seconds(next_ - start_) >= duration_);
    }
    if (is_unready()) say(fmt::format("not ready after {:g} s: {}", to_seconds(start_up), told_));
    const bool stands = come_to_a_stand();
    if (!stands) say("it is unknown whether the vehicle has stopped");
    const bool heard = drive_.client().telemetry().counters().taken > 0;
    if (!heard) say("no status of the vehicle was received");
    summarise();
    return stands && heard && printer_.has_reader() && (!script_ || script_over());
  }
  [[nodiscard]] const LogFile& log() const { return outputs_.log; }

  /// For the link: the drive, which publishes each received telemetry at once.
  Status receive(std::span<const std::uint8_t> datagram, Time now) {
    const Status taken = drive_.receive(datagram, now);
    const auto& estimate = drive_.estimate();
    if (taken && estimate.stamp != Time{} && outputs_.publication) outputs_.publication->write(estimate);
    return taken;
  }
  [[nodiscard]] bool established(Time now) const { return drive_.established(now); }
  [[nodiscard]] Time next_send() const { return drive_.next_send(); }
  Result<std::size_t> poll(Time now, std::span<std::uint8_t> out) { return drive_.poll(now, out); }

 private:
  static constexpr Duration period{20'000'000};
  static constexpr Duration patience = std::chrono::seconds(5);   // for a vehicle that is being stopped
  static constexpr Duration start_up = std::chrono::seconds(20);  // for a script's vehicle to start up
  static constexpr Duration last_words = std::chrono::seconds(1);

  void cycle() {
    const platform::SteadyClock clock;
    next_ = std::max(next_ + period, clock.now());
    heard_ += link_.exchange(*this, next_);
    if (const auto text = link_.look(heard_, next_)) say(*text);
    if (!drive_.client().category()) free_ = next_;
    const auto state = drive_.client().state();
    commanded_ = {};
    if (!ending_ &&
        (state == vehicle::SupervisorState::ready || state == vehicle::SupervisorState::driving)) {
      commanded_ = wanted();
      static_cast<void>(
          drive_.drive(commanded_, clock.now()));  // a refused command is counted, and times out
      driven_ += to_seconds(period);
    }
    tell();
  }

  [[nodiscard]] mobile::Twist wanted() const {
    return script_ ? script_->twist(driven_) : keys_.twist(next_);
  }
  [[nodiscard]] bool script_over() const { return script_ && script_->ended(driven_); }

  /// Whether a script's vehicle was stopped, and nobody is at the keys to release it.
  [[nodiscard]] bool is_abandoned() const {
    const bool attended = ::isatty(STDIN_FILENO) == 1 && !in_background();
    return script_ && !attended && next_ - free_ >= patience;
  }

  /// Whether a script's vehicle does not start up, which no key can change.
  [[nodiscard]] bool is_unready() const {
    return script_ && drive_.client().state() == vehicle::SupervisorState::starting &&
           next_ - start_ >= start_up;
  }

  /// Whether the program should end.
  bool listen() {
    for (const char key : text_.take()) {
      switch (keys_.press(key, next_)) {
        case DriveKey::none:
          break;
        case DriveKey::stop_at_once:
          drive_.client().stop(StopCategory::category_0, next_);
          break;
        case DriveKey::stop:
          drive_.client().stop(StopCategory::category_1, next_);
          break;
        case DriveKey::recover:
          link_.recover();
          if (const Status recovered = drive_.client().recover(next_); !recovered)
            say(fmt::format("the vehicle cannot continue: {}",
                            describe(static_cast<vehicle::Errc>(recovered.error().code))));
          break;
        case DriveKey::quit:
          return true;
      }
    }
    return false;
  }

  /// Stops the vehicle; returns whether it is known to stand. A vehicle that was never driven counts as
  /// standing. For any other, the last attempt is the full brake.
  bool come_to_a_stand() {
    ending_ = true;
    if (drive_.client().state() == vehicle::SupervisorState::starting) return true;
    return stop(StopCategory::category_1, free_ + patience) ||
           stop(StopCategory::category_0, next_ + last_words);
  }

  /// Stops the vehicle; returns whether it is known to stand by `end`.
  bool stop(StopCategory category, Time end) {
    drive_.client().stop(category, next_);
    const auto stands = [this] { return drive_.client().state() == vehicle::SupervisorState::stopped; };
    while (!stands() && next_ < end) cycle();
    return stands();
  }

  void tell() {
    DriveView view = view_of(drive_, next_);
    view.commanded = commanded_;
    if (std::string situation = situation_text(view); situation != told_) {
      say(situation);
      told_ = std::move(situation);
    }
    if (outputs_.log.printer) outputs_.log.printer->print(log_line(view));
    if (outputs_.publication) outputs_.publication->write(robot::status_of(drive_, next_));
    if (is_terminal_ && ++since_shown_ >= 5) {
      since_shown_ = 0;
      printer_.print("\r\x1b[K" + live_line(view, terminal_columns() - 1));
    }
  }

  void say(const std::string& text) { printer_.print((is_terminal_ ? "\r\x1b[K" : "") + text + '\n'); }

  void summarise() {
    const auto& heard = drive_.client().telemetry().counters();
    const auto& sent = drive_.client().counters();
    const auto wire = link_.counters();
    say(fmt::format(
        "{} control frames sent, {} missed, {} handshakes; status frames: {} taken, {} lost, {} late, {} "
        "duplicated, {} malformed; "
        "{} datagrams received, {} refused, {} too long, {} dropped by the system",
        sent.sent, sent.missed, sent.handshakes, heard.taken, heard.lost, heard.late, heard.duplicated,
        heard.malformed, sent.received, sent.refused, wire.too_long, wire.dropped));
  }

  Drive drive_;
  Link link_;
  LinkHeard heard_;
  KeyDriver keys_;
  std::optional<TwistScript> script_;
  double duration_;
  DriveOutputs outputs_;
  Printer printer_;
  TypedText text_;
  bool is_terminal_ = ::isatty(STDOUT_FILENO) == 1;
  bool ending_ = false;
  int since_shown_ = 0;
  mobile::Twist commanded_{};
  double driven_ = 0;  ///< s in which the vehicle could be driven
  Time start_{};
  Time next_{};
  Time free_{};       ///< last time without a stop
  std::string told_;  ///< last printed situation
};

}  // namespace takt::tools
