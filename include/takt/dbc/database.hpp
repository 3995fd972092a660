// A DBC file as a control loop uses it: which message a frame is, and its signals as physical values and back,
// by tables that are made once. takt/dbc/file.hpp reads the file.
//
//     const auto dbc = Database::load("drive.dbc");                      // set-up: allocates
//     const MessageCodec* status = dbc->find("MotorStatus");
//     const std::size_t velocity = *status->find_signal("velocity");
//     std::vector<double> values(status->signal_count());
//     ...
//     if (const MessageCodec* message = dbc->find(frame); message == status) {
//       if (status->decode(frame, values)) use(values[velocity]);       // in the loop: allocates nothing
//     }
//
// values[i] is the signal i of description().signals, in the order of the file. A signal that has no value in
// a frame is NaN there: one of another branch of a multiplexed message, one that the frame is too short for,
// and what J1939 says instead of a value. Who needs to know which, asks for its Presence.
//
// A selector's number that selects no signal is an error: unknown_selector. If the value table (VAL_) has a text for the
// number, only the unconditional signals have values.
//
// A number of the value table beyond the signal's range ("error", "init") can be sent under every policy. Its exact value is
// needed: value_of(signal, "error"), or a decoded one. Any other value must be in the range.
//
// Values are those of takt/can/signal.hpp, bit for bit: this is the same kernel with its shifts and masks in a
// table. Once loaded, everything but the look-ups by name is real-time safe and takes a bounded time: to decode
// 8 signals about 15 ns, to encode them 25. Any number of threads may use one Database.
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
                                              << 20;  ///< of all messages of a Database together

/// What to do with a frame that is shorter than its message.
enum class ShortFrame : std::uint8_t {
  error,             ///< can::Errc::wrong_length
  complete_signals,  ///< those that the frame holds whole; the others are cut_off
};

/// One message of a Database, ready to decode and encode.
class MessageCodec {
 public:
  /// The message as the file describes it. Lives as long as the Database.
  [[nodiscard]] const Message& description() const noexcept { return *description_; }
  [[nodiscard]] std::size_t signal_count() const noexcept { return limits_.size(); }
  [[nodiscard]] std::size_t length() const noexcept { return description_->length; }
  [[nodiscard]] bool is_j1939() const noexcept { return is_j1939_; }
  [[nodiscard]] bool is_fd() const noexcept { return is_fd_; }
  [[nodiscard]] std::optional<Duration> cycle_time() const noexcept { return cycle_time_; }

  /// The index of a signal by its name. For set-up: it compares names one by one.
  [[nodiscard]] std::optional<std::size_t> find_signal(std::string_view name) const noexcept {
    return description_->find_signal(name);
  }

  /// Whether the frame is of this message, by the rule of Database::find().
  [[nodiscard]] bool is_mine(const can::Frame& frame) const noexcept {
    const std::uint32_t counting = id_mask_ | ~can::max_extended_id;
    return !frame.error && frame.extended == description_->extended &&
           ((frame.id ^ description_->id) & counting) == 0;
  }

  /// What a bus has to let through for it, by the same rule.
  [[nodiscard]] can::Filter filter() const noexcept {
    return {description_->id, id_mask_, description_->extended};
  }

  /// The values of all signals in a frame's data: values[i], i < signal_count(). On an error nothing is
  /// written. Errors: wrong_count (too few values or presence), wrong_length, unknown_selector. Bytes beyond
  /// the message's length are nobody's. Real-time safe.
  [[nodiscard]] Status decode(std::span<const std::uint8_t> data, std::span<double> values,
                              ShortFrame short_frame = ShortFrame::error) const noexcept {
    return to_status(decode_data(data, values, nullptr, short_frame));
  }
  /// ... and what each is.
  [[nodiscard]] Status decode(std::span<const std::uint8_t> data, std::span<double> values,
                              std::span<can::Presence> presence,
                              ShortFrame short_frame = ShortFrame::error) const noexcept {
    if (presence.size() < signal_count()) return fail(can::Errc::wrong_count);
    return to_status(decode_data(data, values, presence.data(), short_frame));
  }
  /// The same of a frame; its identifier is not looked at. Error beside those above: wrong_format (remote).
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

  /// The raw numbers of the fields, before scale and offset. Signed fields keep their sign, 64 unsigned bits become two's
  /// complement, floating-point fields give their bits. A signal that is not selected or cut off has 0. J1939's codes stay as
  /// they are, and `presence` tells their meaning. Errors: those of decode(). Real-time safe.
  [[nodiscard]] Status decode_numbers(std::span<const std::uint8_t> data, std::span<std::int64_t> numbers,
                                      std::span<can::Presence> presence,
                                      ShortFrame short_frame = ShortFrame::error) const noexcept;

  /// The value table's text for a raw number of a signal; empty without one. Linear search.
  [[nodiscard]] std::string_view label(std::size_t signal, std::int64_t number) const noexcept;

  /// The physical value to encode for this label. For set-up: linear search.
  [[nodiscard]] std::optional<double> value_of(std::size_t signal, std::string_view label) const noexcept;

  /// The raw numbers, as bits in rising order, that the value table names although they are beyond the range. Those of a
  /// selector also count if they select nothing.
  [[nodiscard]] std::span<const std::uint64_t> states(std::size_t signal) const noexcept {
    return std::span(states_).subspan(state_begin_[signal], state_begin_[signal + 1] - state_begin_[signal]);
  }

  /// What decode_batch() has done.
  struct Batch {
    std::size_t frames = 0;   ///< were looked at, from the first on; fewer than given when the rows are full
    std::size_t rows = 0;     ///< are filled
    std::size_t refused = 0;  ///< were of this message, but decode() says an error
  };

  /// Decodes those of many frames that are of this message, in order, into columns: the values of signal i
  /// are columns[i * rows + 0, 1, ...], and stamps[0, 1, ...] the times of their frames unless the span is
  /// empty. Error: wrong_count (columns are not signal_count() * rows, or stamps neither empty nor rows).
  [[nodiscard]] Result<Batch> decode_batch(std::span<const can::Frame> frames, std::span<double> columns,
                                           std::size_t rows, std::span<Time> stamps = {},
                                           ShortFrame short_frame = ShortFrame::error) const noexcept;

  /// The data of a message that says these values: length() bytes. Of a multiplexed message only those are
  /// looked at that the selectors' values choose. Bits of no signal are 0, of J1939 1; NaN in a J1939 message
  /// is "not available", and what would read as no value there is out of range. On an error nothing is written.
  /// Errors: wrong_count, wrong_length (data are shorter than the message), unknown_selector, not_finite,
  /// out_of_range as `overflow` says, bad_layout (a signal does not lie within the message). Real-time safe.
  [[nodiscard]] Status encode_into(std::span<std::uint8_t> data, std::span<const double> values,
                                   can::Overflow overflow = can::Overflow::error) const noexcept {
    std::size_t refused = 0;
    return to_status(encode_data(data, values, overflow, refused));
  }
  /// The same; on an error sets `refused` to the signal that caused it, or to no_signal (wrong_count, wrong_length).
  [[nodiscard]] Status encode_into(std::span<std::uint8_t> data, std::span<const double> values,
                                   can::Overflow overflow, std::size_t& refused) const noexcept {
    return to_status(encode_data(data, values, overflow, refused));
  }

  static constexpr std::size_t no_signal = ~std::size_t{0};

  /// Why encode_into() refuses these values.
  struct Refusal {
    Error error{};
    std::size_t signal = no_signal;
    std::string message;  ///< names the signal, its value and what is allowed
  };
  /// The refusal of these values; empty if they can be encoded. For messages to people: allocates.
  [[nodiscard]] std::optional<Refusal> explain(std::span<const double> values,
                                               can::Overflow overflow = can::Overflow::error) const;

  /// The same as a frame, with the identifier of the file; an FD frame is filled up to the next length that
  /// FD knows. Error beside those above: payload_too_long (a message of J1939 that needs its transport).
  [[nodiscard]] Result<can::Frame> encode(std::span<const double> values,
                                          can::Overflow overflow = can::Overflow::error) const noexcept;

 private:
  friend class Database;

  /// What is worked out beforehand for a signal. Bits are taken out of eight bytes at once.
  struct Row {
    double scale = 1;
    double offset = 0;
    std::uint64_t mask = 0;    ///< the bits of the number
    std::uint64_t sign = 0;    ///< the sign bit of the number; 0 if it has none
    std::uint64_t limit = 0;   ///< beyond it, a number says something else (J1939)
    std::uint32_t signal = 0;  ///< index
    std::uint16_t first = 0;   ///< of the eight bytes
    std::uint16_t end = 0;     ///< bytes that a frame needs for this signal
    std::uint8_t shift = 0;    ///< of the number in the eight bytes, read in its order
    bool big = false;
    bool is_plain = false;  ///< an integer below 64 bits that lies in eight bytes
  };
  /// A row for decoding a message of eight bytes: the number stays in place unshifted, and a smaller scale makes up for it.
  struct InPlace {
    std::uint64_t mask = 0;
    std::uint64_t sign = 0;
    double scale = 1;
    double offset = 0;
    std::uint32_t signal = 0;
    std::uint32_t word = 0;  ///< little-endian, the same halved, big-endian, halved
  };
  /// What may be sent of a row: integers from `low` to `low + span`, and their place among the eight bytes of a frame.
  struct Sending {
    std::uint64_t low = 0;
    std::uint64_t span = 0;
    std::uint64_t place = 0;
  };
  /// Signals that are there together. Those from `plain_end` on are no integers below 64 bits, or lie in nine
  /// bytes: they go through the general kernel.
  struct Group {
    std::uint32_t begin = 0;
    std::uint32_t plain_end = 0;
    std::uint32_t end = 0;
  };
  /// Numbers of a selector from `first` to the next step choose `group`.
  struct Step {
    std::uint64_t first = 0;
    std::uint32_t group = no_group;
  };
  struct Selector {
    Row row;
    std::uint32_t parent = no_group;  ///< index of the selector that this one hangs on
    std::uint32_t steps_begin = 0;
    std::uint32_t steps_end = 0;
  };
  /// A frame's bytes: load_bytes_ of them can be read, `size` are the frame's.
  struct Bytes {
    const std::uint8_t* data = nullptr;
    std::size_t size = 0;
  };
  /// Where what is decoded goes: values[i * stride] of signal i, and presence[i] unless nobody asks.
  struct Target {
    double* values = nullptr;
    std::size_t stride = 1;
    can::Presence* presence = nullptr;
  };
  /// Room for the longest message, read eight bytes at a time.
  using Scratch = std::array<std::uint8_t, dbc::max_message_length + 8>;
  using Chosen = std::array<std::uint32_t, max_selectors_in_message>;  ///< the group of each selector

  static constexpr std::uint32_t no_group = ~std::uint32_t{0};
  static constexpr can::Errc no_error = can::Errc{};

  /// Compiled functions answer with a code alone: a Status would go through memory, at half of decode()'s cost.
  [[nodiscard]] static Status to_status(can::Errc code) noexcept {
    if (code != no_error) return fail(code);
    return {};
  }

  MessageCodec(const File& file, const Message& message);
  /// Makes the tables; false where that would take more than `most` rows.
  [[nodiscard]] bool build(std::size_t most);
  [[nodiscard]] bool add_selector(std::uint32_t signal, std::size_t most);
  void add_group(std::span<const std::uint32_t> signals);
  void prepare_sending();
  void prepare_in_place();
  void add_states();
  [[nodiscard]] std::uint32_t group_of(const Selector& selector, std::uint64_t number) const noexcept;
  [[nodiscard]] std::string allowed_text(std::size_t signal) const;
  [[nodiscard]] Row row_of(std::uint32_t signal) const noexcept;
  [[nodiscard]] const can::Signal& coding(const Row& row) const noexcept {
    return description_->signals[row.signal].coding;
  }

  [[nodiscard]] Bytes readable(std::span<const std::uint8_t> bytes, std::size_t size,
                               Scratch& scratch) const noexcept;
  [[nodiscard]] Bytes copied(std::span<const std::uint8_t> bytes, Scratch& scratch) const noexcept;
  [[nodiscard]] std::uint64_t number_in(const Row& row, Bytes bytes) const noexcept;
  template <class NumberOf>
  [[nodiscard]] can::Errc choose(Chosen& chosen, ShortFrame short_frame, std::size_t& refused,
                                 NumberOf number_of) const noexcept;
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
  std::uint32_t id_mask_ = can::max_extended_id;  ///< bits of the identifier that tell the message
  std::size_t load_bytes_ = 8;                    ///< what the rows read of a frame
  std::size_t needed_bytes_ = 0;                  ///< of a frame that has all signals
  std::vector<Row> rows_;
  std::vector<Sending> sending_;   ///< by row; empty unless the message is one word of integers of some bits
  std::vector<InPlace> in_place_;  ///< by row; empty unless the message is one word, and not of J1939
  std::vector<can::NumberLimits> limits_;  ///< of what is sent, by signal
  std::vector<Group> groups_;              ///< the first is always there
  std::vector<Selector> selectors_;
  std::vector<Step> steps_;
  std::vector<std::uint64_t> states_;       ///< of all signals, one after another
  std::vector<std::uint32_t> state_begin_;  ///< by signal, and the end of the last
};

/// A DBC file with its tables. Can be moved, not copied; messages stay where they are.
class Database {
 public:
  /// Error: bad_dbc, with file, line and column.
  [[nodiscard]] static SetupResult<Database> load(const std::string& path,
                                                  Strictness strictness = Strictness::tolerant);
  /// Of the text of a file.
  [[nodiscard]] static SetupResult<Database> parse(std::string_view text,
                                                   Strictness strictness = Strictness::tolerant);
  /// Of a description from elsewhere. Errors: bad_dbc (what no file could say: two messages with one identifier,
  /// a selector that is not in the message, ...).
  [[nodiscard]] static SetupResult<Database> make(File file);

  Database(Database&&) noexcept = default;
  Database& operator=(Database&&) noexcept = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database() = default;

  [[nodiscard]] const File& file() const noexcept { return reading_.file; }
  [[nodiscard]] std::span<const Warning> warnings() const noexcept { return reading_.warnings; }
  /// How many messages and signals of the file are not in it, as the warnings say.
  [[nodiscard]] std::size_t left_out() const noexcept { return reading_.left_out; }
  /// All messages, in the order of the file.
  [[nodiscard]] std::span<const MessageCodec> messages() const noexcept { return messages_; }

  /// The message with this identifier, or of J1939 with this parameter group, whatever priority, source and
  /// destination; null if there is none. Where the file has several messages of one group, such as each
  /// device's own layout of "proprietary A", only the whole identifier tells them apart: one that the file
  /// does not have is of none of them. Real-time safe: a table look-up for 11 bits, a binary search for 29.
  [[nodiscard]] const MessageCodec* find(std::uint32_t id, bool extended) const noexcept;
  [[nodiscard]] const MessageCodec* find(const can::Frame& frame) const noexcept {
    return frame.error ? nullptr : find(frame.id, frame.extended);
  }
  /// By name; for set-up: it compares names one by one.
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
  std::vector<std::uint32_t> standard_;  ///< message by identifier
  std::vector<Key> extended_;            ///< in rising order
  std::vector<Key> parameter_groups_;    ///< in rising order
};

}  // namespace takt::dbc
