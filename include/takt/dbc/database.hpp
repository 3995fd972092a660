// A DBC file prepared for a control loop: it finds the message of a frame, decodes its signals to physical
// values, and encodes them. All tables are built once. takt/dbc/file.hpp reads the file.
//
//     const auto dbc = Database::load("drive.dbc");                      // set-up: allocates
//     const MessageCodec* status = dbc->find("MotorStatus");
//     const std::size_t velocity = *status->find_signal("velocity");
//
//     std::vector<double> values(status->signal_count());
//     ...
//     if (const MessageCodec* message = dbc->find(frame); message == status) {
//       if (status->decode(frame, values)) use(values[velocity]);       // in the loop: allocates nothing
//     }
//
// The element values[i] belongs to description().signals[i], in the order of the file. A signal without a
// value is NaN: a multiplexed signal that is not selected, a signal beyond the frame's end, or a J1939 code.
// Its Presence gives the reason.
//
// A selector value that selects no signal leaves the signals that do not depend on it. It is refused where it
// is to be sent (unknown_selector), unless the value table (VAL_) has a text for it.
//
// A number of the value table beyond the signal's range ("error", "init") can be sent under every policy. Its
// exact value is needed: value_of(signal, "error"), or a decoded one. Any other value must be in the range.
//
// Values equal those of takt/can/signal.hpp bit for bit: this is the same kernel, with its shifts and masks
// in a table. After loading, everything except look-ups by name is real-time safe and takes a bounded time.
// Decoding 8 signals takes about 15 ns, encoding them 25 ns. Any number of threads may use one Database.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/can/filter.hpp"
#include "takt/can/frame.hpp"
#include "takt/can/j1939_parameter.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/dbc/file.hpp"

namespace takt::dbc {

inline constexpr std::size_t max_selectors_in_message = 64;
inline constexpr std::size_t max_table_rows = std::size_t{1}
                                              << 20;  ///< limit for all messages of a Database together

/// The policy for a frame that is shorter than its message.
enum class ShortFrame : std::uint8_t {
  error,             ///< can::Errc::wrong_length
  complete_signals,  ///< decodes signals that the frame holds completely; the others are cut_off
};

/// One message of a Database, ready to decode and encode.
class MessageCodec {
 public:
  /// The description of the message in the file. Valid as long as the Database.
  [[nodiscard]] const Message& description() const noexcept { return *description_; }
  /// The number of signals, and so of the values of decode() and encode().
  [[nodiscard]] std::size_t signal_count() const noexcept { return limits_.size(); }
  /// The data bytes of the message.
  [[nodiscard]] std::size_t length() const noexcept { return description_->length; }
  [[nodiscard]] bool is_j1939() const noexcept { return is_j1939_; }
  [[nodiscard]] bool is_fd() const noexcept { return is_fd_; }
  /// The period of a cyclic message; nullopt without one.
  [[nodiscard]] std::optional<Duration> cycle_time() const noexcept { return cycle_time_; }

  /// Returns the index of a signal by name. For set-up: linear search.
  [[nodiscard]] std::optional<std::size_t> find_signal(std::string_view name) const noexcept {
    return description_->find_signal(name);
  }

  /// Returns whether the frame contains this message, by the rule of Database::find(). Real-time safe.
  [[nodiscard]] bool is_mine(const can::Frame& frame) const noexcept {
    const std::uint32_t counting = id_mask_ | ~can::max_extended_id;
    return !frame.error && frame.extended == description_->extended &&
           ((frame.id ^ description_->id) & counting) == 0;
  }

  /// Returns the receive filter for this message, by the same rule.
  [[nodiscard]] can::Filter filter() const noexcept {
    return {description_->id, id_mask_, description_->extended};
  }

  /// Decodes the values of all signals from data bytes: values[i], i < signal_count(). On an error nothing is
  /// written. Bytes beyond the message's length are ignored. Errors: wrong_count (too few values or
  /// presences), wrong_length. Real-time safe.
  [[nodiscard]] Status decode(std::span<const std::uint8_t> data, std::span<double> values,
                              ShortFrame short_frame = ShortFrame::error) const noexcept {
    return to_status(decode_data(data, values, nullptr, short_frame));
  }
  /// The same, with the Presence of each signal.
  [[nodiscard]] Status decode(std::span<const std::uint8_t> data, std::span<double> values,
                              std::span<can::Presence> presence,
                              ShortFrame short_frame = ShortFrame::error) const noexcept {
    if (presence.size() < signal_count()) return fail(can::Errc::wrong_count);
    return to_status(decode_data(data, values, presence.data(), short_frame));
  }
  /// Decodes a frame; its identifier is not checked. Errors: as above, wrong_format (not a data frame).
  /// Real-time safe.
  [[nodiscard]] Status decode(const can::Frame& frame, std::span<double> values,
                              ShortFrame short_frame = ShortFrame::error) const noexcept {
    return to_status(decode_frame(frame, values, nullptr, short_frame));
  }
  [[nodiscard]] Status decode(const can::Frame& frame, std::span<double> values,
                              std::span<can::Presence> presence,
                              ShortFrame short_frame = ShortFrame::error) const noexcept {
    if (presence.size() < signal_count()) return fail(can::Errc::wrong_count);
    return to_status(decode_frame(frame, values, presence.data(), short_frame));
  }

  /// Decodes raw numbers, before scale and offset. Signed fields keep their sign. Unsigned fields of 64 bits
  /// become two's complement, and floating-point fields give their bits. A signal that is not selected or cut
  /// off is 0. J1939 codes are not changed; `presence` tells their meaning. Errors: those of decode().
  /// Real-time safe.
  [[nodiscard]] Status decode_numbers(std::span<const std::uint8_t> data, std::span<std::int64_t> numbers,
                                      std::span<can::Presence> presence,
                                      ShortFrame short_frame = ShortFrame::error) const noexcept;

  /// Returns the value table's text for a raw number of a signal; empty without one. Linear search.
  [[nodiscard]] std::string_view label(std::size_t signal, std::int64_t number) const noexcept;

  /// Returns the physical value to encode for this label. For set-up: linear search.
  [[nodiscard]] std::optional<double> value_of(std::size_t signal, std::string_view label) const noexcept;

  /// Returns the raw numbers, as bits in rising order, that the value table names although they are beyond
  /// the range. For a selector, numbers that select no signal are included.
  [[nodiscard]] std::span<const std::uint64_t> states(std::size_t signal) const noexcept {
    return std::span(states_).subspan(state_begin_[signal], state_begin_[signal + 1] - state_begin_[signal]);
  }

  /// The result of decode_batch().
  struct Batch {
    std::size_t frames = 0;   ///< examined frames, from the first on; fewer than given if the rows are full
    std::size_t rows = 0;     ///< filled rows
    std::size_t refused = 0;  ///< frames of this message that decode() rejected
  };

  /// Decodes all frames of this message among many, in order, into columns. The values of signal i are
  /// columns[i * rows + 0, 1, ...]. The frames' times are stamps[0, 1, ...], unless the span is empty. Error:
  /// wrong_count (columns is not signal_count() * rows long, or stamps is neither empty nor rows long).
  /// Real-time safe.
  [[nodiscard]] Result<Batch> decode_batch(std::span<const can::Frame> frames, std::span<double> columns,
                                           std::size_t rows, std::span<Time> stamps = {},
                                           ShortFrame short_frame = ShortFrame::error) const noexcept;

  /// Encodes values into data bytes, of which there must be at least length(). On an error nothing is
  /// written. Values of signals that the selectors do not select are ignored. Bits without a signal are 0, in
  /// J1939 1. In a J1939 message, NaN is sent as "not available", and a value whose number would be a code is
  /// out of range. Errors: wrong_count, wrong_length (data is shorter than the message), unknown_selector,
  /// not_finite, bad_layout (a signal is not within the message); out_of_range, depending on `overflow`.
  /// Real-time safe.
  [[nodiscard]] Status encode_into(std::span<std::uint8_t> data, std::span<const double> values,
                                   can::Overflow overflow = can::Overflow::error) const noexcept {
    std::size_t refused = 0;
    return to_status(encode_data(data, values, overflow, refused));
  }
  /// The same. On an error it sets `refused` to the signal that caused it, or to no_signal (wrong_count,
  /// wrong_length).
  [[nodiscard]] Status encode_into(std::span<std::uint8_t> data, std::span<const double> values,
                                   can::Overflow overflow, std::size_t& refused) const noexcept {
    return to_status(encode_data(data, values, overflow, refused));
  }

  static constexpr std::size_t no_signal = ~std::size_t{0};

  /// The reason why encode_into() rejects values.
  struct Refusal {
    Error error{};
    std::size_t signal = no_signal;
    std::string message;  ///< names the signal, its value and the allowed values
  };
  /// Returns why these values cannot be encoded; nullopt if they can. For messages to people: allocates.
  [[nodiscard]] std::optional<Refusal> explain(std::span<const double> values,
                                               can::Overflow overflow = can::Overflow::error) const;

  /// Encodes values into a frame with the identifier of the file. FD frames are padded to the next FD length.
  /// Errors: as above, payload_too_long (a J1939 message that needs the transport). Real-time safe.
  [[nodiscard]] Result<can::Frame> encode(std::span<const double> values,
                                          can::Overflow overflow = can::Overflow::error) const noexcept;

 private:
  friend class Database;

  /// The precomputed coding of a signal. Bits are extracted from eight bytes at once.
  struct Row {
    double scale = 1;
    double offset = 0;
    std::uint64_t mask = 0;    ///< the bits of the number
    std::uint64_t sign = 0;    ///< the sign bit of the number; 0 if it has none
    std::uint64_t limit = 0;   ///< larger numbers are J1939 codes
    std::uint32_t signal = 0;  ///< index
    std::uint16_t first = 0;   ///< first of the eight bytes
    std::uint16_t end = 0;     ///< number of bytes that a frame needs for this signal
    std::uint8_t shift = 0;    ///< position of the number in the eight bytes, read in its byte order
    bool big = false;
    bool is_plain = false;  ///< an integer below 64 bits within eight bytes
  };
  /// A row for decoding a message of eight bytes. The number is not shifted; a smaller scale compensates for
  /// that.
  struct InPlace {
    std::uint64_t mask = 0;
    std::uint64_t sign = 0;
    double scale = 1;
    double offset = 0;
    std::uint32_t signal = 0;
    std::uint32_t word = 0;  ///< little-endian, the same halved, big-endian, halved
  };
  /// The limits for sending a row: integers from `low` to `low + span`, and their place in the eight bytes of
  /// a frame.
  struct Sending {
    std::uint64_t low = 0;
    std::uint64_t span = 0;
    std::uint64_t place = 0;
  };
  /// Signals that are always in the frame together. Those from `plain_end` on use the general kernel: they
  /// are not integers below 64 bits, or take nine bytes.
  struct Group {
    std::uint32_t begin = 0;
    std::uint32_t plain_end = 0;
    std::uint32_t end = 0;
  };
  /// Selector values from `first` up to the next step select `group`.
  struct Step {
    std::uint64_t first = 0;
    std::uint32_t group = no_group;
  };
  struct Selector {
    Row row;
    std::uint32_t parent = no_group;  ///< index of the selector on which this one depends
    std::uint32_t steps_begin = 0;
    std::uint32_t steps_end = 0;
  };
  /// The bytes of a frame: `size` bytes of data, of which load_bytes_ can be read safely.
  struct Bytes {
    const std::uint8_t* data = nullptr;
    std::size_t size = 0;
  };
  /// The output of decoding: values[i * stride] and, unless null, presence[i] of signal i.
  struct Target {
    double* values = nullptr;
    std::size_t stride = 1;
    can::Presence* presence = nullptr;
  };
  /// A buffer for the longest message, read eight bytes at a time.
  using Scratch = std::array<std::uint8_t, dbc::max_message_length + 8>;
  using Chosen = std::array<std::uint32_t, max_selectors_in_message>;  ///< the group of each selector

  static constexpr std::uint32_t no_group = ~std::uint32_t{0};
  static constexpr can::Errc no_error = can::Errc{};

  /// Converts the error code of a compiled function. Returning a Status there would go through memory: half
  /// of decode()'s cost.
  [[nodiscard]] static Status to_status(can::Errc code) noexcept {
    if (code != no_error) return fail(code);
    return {};
  }

  MessageCodec(const File& file, const Message& message);
  /// Makes the tables; false if that needs more than `most` rows.
  [[nodiscard]] bool build(std::size_t most);
  [[nodiscard]] bool add_selector(std::uint32_t signal, std::size_t most);
  void add_group(std::span<const std::uint32_t> signals);
  void prepare_sending();
  void prepare_in_place();
  void add_states();
  [[nodiscard]] std::uint32_t group_of(const Selector& selector, std::uint64_t number) const noexcept;
  [[nodiscard]] std::string allowed_text(std::size_t signal) const;
  [[nodiscard]] Row row_of(std::uint32_t signal) const noexcept;
  [[nodiscard]] const can::SignalCoding& coding(const Row& row) const noexcept {
    return description_->signals[row.signal].coding;
  }

  [[nodiscard]] Bytes readable(std::span<const std::uint8_t> bytes, std::size_t size,
                               Scratch& scratch) const noexcept;
  [[nodiscard]] Bytes copied(std::span<const std::uint8_t> bytes, Scratch& scratch) const noexcept;
  [[nodiscard]] std::uint64_t number_in(const Row& row, Bytes bytes) const noexcept;
  /// What becomes of a selector's number that selects no signal.
  enum class Unknown : std::uint8_t { is_error, selects_nothing };
  template <class NumberOf>
  [[nodiscard]] can::Errc choose(Chosen& chosen, Unknown unknown, ShortFrame short_frame,
                                 std::size_t& refused, NumberOf number_of) const noexcept;
  [[nodiscard]] can::Errc choose_from(Chosen& chosen, Bytes bytes, ShortFrame short_frame) const noexcept;
  template <bool checked, bool coded>
  void decode_plain(const Group& group, Bytes bytes, const Target& target) const noexcept;
  template <bool checked>
  void decode_others(const Group& group, Bytes bytes, const Target& target) const noexcept;
  template <bool checked, bool coded>
  void decode_rows(std::span<const std::uint32_t> groups, Bytes bytes, const Target& target) const noexcept;
  void decode_in_place(std::span<const std::uint32_t> groups, Bytes bytes,
                       const Target& target) const noexcept;
  [[nodiscard]] can::Errc decode_data(std::span<const std::uint8_t> data, std::span<double> values,
                                      can::Presence* presence, ShortFrame short_frame) const noexcept;
  [[nodiscard]] can::Errc decode_frame(const can::Frame& frame, std::span<double> values,
                                       can::Presence* presence, ShortFrame short_frame) const noexcept;
  [[nodiscard]] can::Errc decode_bytes(Bytes bytes, const Target& target,
                                       ShortFrame short_frame) const noexcept;
  [[nodiscard]] Result<std::uint64_t> bits_to_send(const Row& row, double value,
                                                   can::Overflow overflow) const noexcept;
  [[nodiscard]] bool encode_word(std::uint64_t& word, const Group& group,
                                 std::span<const double> values) const noexcept;
  [[nodiscard]] can::Errc encode_group(const Group& group, std::uint8_t* bytes,
                                       std::span<const double> values, can::Overflow overflow,
                                       std::size_t& refused) const noexcept;
  [[nodiscard]] can::Errc encode_data(std::span<std::uint8_t> data, std::span<const double> values,
                                      can::Overflow overflow, std::size_t& refused) const noexcept;

  const Message* description_;
  bool is_j1939_ = false;
  bool is_fd_ = false;
  std::optional<Duration> cycle_time_;
  std::uint32_t id_mask_ = can::max_extended_id;  ///< bits of the identifier that identify the message
  std::size_t load_bytes_ = 8;                    ///< bytes of a frame that the rows read
  std::size_t needed_bytes_ = 0;                  ///< bytes of a frame that has all signals
  std::vector<Row> rows_;
  std::vector<Sending> sending_;           ///< by row; only for a message of plain integers within one word
  std::vector<InPlace> in_place_;          ///< by row; only for a message within one word that is not J1939
  std::vector<can::NumberLimits> limits_;  ///< for sending, by signal
  std::vector<Group> groups_;              ///< the first has the unconditional signals
  std::vector<Selector> selectors_;
  std::vector<Step> steps_;
  std::vector<std::uint64_t> states_;       ///< of all signals, one after another
  std::vector<std::uint32_t> state_begin_;  ///< by signal, and the end of the last
};

/// A DBC file with its tables. It can be moved, not copied; the messages stay in place.
class Database {
 public:
  /// Reads a file. Error: bad_dbc, with file, line and column. Allocates.
  [[nodiscard]] static SetupResult<Database> load(const std::string& path,
                                                  Strictness strictness = Strictness::tolerant);
  /// Reads the text of a file. Error: bad_dbc, with line and column. Allocates.
  [[nodiscard]] static SetupResult<Database> parse(std::string_view text,
                                                   Strictness strictness = Strictness::tolerant);
  /// Uses a description from another source. Error: bad_dbc (no file can contain it: two messages with one
  /// identifier, a selector that is not in the message, ...). Allocates.
  [[nodiscard]] static SetupResult<Database> make(File file);

  Database(Database&&) noexcept = default;
  Database& operator=(Database&&) noexcept = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database() = default;

  /// The description of the whole file.
  [[nodiscard]] const File& file() const noexcept { return reading_.file; }
  /// The warnings of the reader.
  [[nodiscard]] std::span<const Warning> warnings() const noexcept { return reading_.warnings; }
  /// The number of messages and signals of the file that were skipped; the warnings list them.
  [[nodiscard]] std::size_t left_out() const noexcept { return reading_.left_out; }
  /// All messages, in the order of the file.
  [[nodiscard]] std::span<const MessageCodec> messages() const noexcept { return messages_; }

  /// Returns the message with this identifier; null if there is none. A J1939 message is found by its
  /// parameter group, with any priority, source and destination. If the file has several messages of one
  /// group, such as each device's own "proprietary A", the whole identifier must match. Real-time safe: a
  /// table look-up for 11 bits, a binary search for 29 bits.
  [[nodiscard]] const MessageCodec* find(std::uint32_t id, bool extended) const noexcept;
  [[nodiscard]] const MessageCodec* find(const can::Frame& frame) const noexcept {
    return frame.error ? nullptr : find(frame.id, frame.extended);
  }
  /// Returns a message by name; null if there is none. For set-up: linear search.
  [[nodiscard]] const MessageCodec* find(std::string_view name) const noexcept;

 private:
  struct Key {
    std::uint32_t id = 0;
    std::uint32_t message = 0;
  };
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  explicit Database(Reading reading) : reading_(std::move(reading)) {}
  [[nodiscard]] static SetupResult<Database> build(Reading reading);
  [[nodiscard]] static std::uint32_t look_up(const std::vector<Key>& keys, std::uint32_t id) noexcept;

  Reading reading_;
  std::vector<MessageCodec> messages_;
  std::vector<std::uint32_t> standard_;  ///< message index by identifier
  std::vector<Key> extended_;            ///< in rising order
  std::vector<Key> parameter_groups_;    ///< in rising order
};

}  // namespace takt::dbc
