#include "takt/record/reader.hpp"

#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <memory>
#include <utility>

#include "record/foreign_messages.hpp"
#include "record/message_source.hpp"
#include "record/own_messages.hpp"
#include "record/recording_messages.hpp"
#include "takt/record/byte_source.hpp"

namespace takt::record {
namespace {

/// Opens the same bytes anew.
using OpenMessages = std::function<SetupResult<std::unique_ptr<MessageSource>>()>;

std::optional<std::uint64_t> number_in(const std::map<std::string, std::string>& entries, const char* name) {
  const auto found = entries.find(name);
  std::uint64_t number = 0;
  if (found == entries.end()) return std::nullopt;
  const char* end = found->second.data() + found->second.size();
  const auto [stop, error] = std::from_chars(found->second.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

}  // namespace

/// A file that is read as records.
class Reader::Messages {
 public:
  static SetupResult<Reader> create(const OpenMessages& open, const ReaderOptions& options);

  SetupResult<const Record*> next() {
    if (failure_) return tl::unexpected<SetupError>(*failure_);
    while (true) {
      if (foreign_) {
        if (const Record* record = foreign_->next(is_at_end_)) return record;
        if (is_at_end_) return nullptr;
      }
      auto message = is_first_taken_ ? source_->next() : SetupResult<const FileMessage*>(first_);
      is_first_taken_ = true;
      if (!pass_over_damage_ && !source_->lost().empty())
        message = tl::unexpected<SetupError>(source_->lost().front().reason);
      is_at_end_ = message && *message == nullptr;
      if (is_at_end_ && foreign_) continue;
      if (is_at_end_) return nullptr;
      auto record = message ? take(**message) : tl::unexpected<SetupError>(std::move(message.error()));
      if (!record) failure_ = record.error();
      if (!record || *record != nullptr) return record;
    }
  }

  Metadata metadata;
  std::unique_ptr<MessageSource> source_;
  const FileMessage* first_ = nullptr;  ///< which was read to find the metadata
  bool is_first_taken_ = true;
  bool is_at_end_ = false;
  bool pass_over_damage_ = false;
  std::optional<OwnMessages> own_;
  std::optional<ForeignMessages> foreign_;
  std::optional<SetupError> failure_;

  explicit Messages(std::unique_ptr<MessageSource> source) : source_(std::move(source)) {}

 private:
  SetupResult<const Record*> take(const FileMessage& message) {
    if (own_) return own_->take(*source_, message);
    foreign_->take(*source_, message);
    return nullptr;
  }
  SetupResult<bool> begin_own();
  SetupResult<void> begin_foreign(const OpenMessages& open, const ReaderOptions& options);
};

SetupResult<Reader> Reader::Messages::create(const OpenMessages& open, const ReaderOptions& options) {
  auto source = open();
  if (!source) return tl::unexpected<SetupError>(std::move(source.error()));
  auto messages = std::make_unique<Messages>(std::move(*source));
  messages->pass_over_damage_ = options.pass_over_damage;
  const auto is_own = messages->begin_own();
  if (!is_own) return tl::unexpected<SetupError>(is_own.error());
  if (!*is_own) {
    if (auto begun = messages->begin_foreign(open, options); !begun)
      return tl::unexpected<SetupError>(std::move(begun.error()));
  }
  return Reader(std::move(messages));
}

/// Reads up to the first message, before which takt writes its metadata. Returns false if there is none.
SetupResult<bool> Reader::Messages::begin_own() {
  const auto first = source_->next();
  const auto found = source_->metadata().find(recording_metadata);
  if (found == source_->metadata().end()) {
    if (!first) return tl::unexpected<SetupError>(first.error());
    return false;
  }
  const auto text = found->second.find("recording");
  auto parsed = parse_metadata(text == found->second.end() ? "" : text->second);
  if (!parsed) return source_->damage(static_cast<Errc>(parsed.error().error.code), parsed.error().message);
  metadata = std::move(*parsed);
  if (const auto entry = found->second.find("description"); entry != found->second.end())
    metadata.description = entry->second;
  if (const auto entry = found->second.find("devices"); entry != found->second.end())
    metadata.devices = entry->second;
  own_.emplace(metadata);
  first_ = first ? *first : nullptr;
  is_first_taken_ = !first || first_ == nullptr;
  return true;
}

/// Opens the file with the definitions that an earlier reading found; null: there was none.
SetupResult<std::unique_ptr<MessageSource>> reopen(const OpenMessages& open, const MessageSource* earlier) {
  auto source = open();
  if (source && earlier != nullptr) (*source)->know_definitions_of(*earlier);
  return source;
}

SetupResult<void> read_to_end(MessageSource& source, ForeignOutline& outline) {
  while (true) {
    const auto message = source.next();
    if (!message) return tl::unexpected<SetupError>(message.error());
    if (*message == nullptr) return {};
    outline.take(source, **message);
  }
}

SetupResult<void> Reader::Messages::begin_foreign(const OpenMessages& open, const ReaderOptions& options) {
  SetupResult<std::unique_ptr<MessageSource>> read = nullptr;
  ForeignOutline outline(options.topic);
  // A lost chunk may have had the definitions of messages in others. The end of the file has them, too.
  for (bool is_complete = false; !is_complete;) {
    const bool is_first = *read == nullptr;
    read = reopen(open, read->get());
    if (!read) return tl::unexpected<SetupError>(std::move(read.error()));
    outline = ForeignOutline(options.topic);
    const auto done = read_to_end(**read, outline);
    is_complete = !is_first || (*read)->lost().empty();
    if (!done && is_complete) return tl::unexpected<SetupError>(done.error());
    if (!options.pass_over_damage && !(*read)->lost().empty())
      return tl::unexpected<SetupError>((*read)->lost().front().reason);
  }
  auto again = reopen(open, read->get());
  if (!again) return tl::unexpected<SetupError>(std::move(again.error()));
  auto found = outline.metadata(**read);
  if (!found) return tl::unexpected<SetupError>(std::move(found.error()));
  metadata = std::move(*found);
  source_ = std::move(*again);
  is_first_taken_ = true;
  foreign_.emplace(metadata, outline);
  return {};
}

Reader::Reader(std::unique_ptr<Messages> messages) noexcept : messages_(std::move(messages)) {}
Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;

SetupResult<Reader> Reader::open(const std::string& path, const ReaderOptions& options) {
  return Messages::create(
      [&]() -> SetupResult<std::unique_ptr<MessageSource>> {
        auto bytes = open_file(path);
        if (!bytes) return tl::unexpected<SetupError>(std::move(bytes.error()));
        return open_messages(std::move(*bytes), path + ": ", options.compressions);
      },
      options);
}

SetupResult<Reader> Reader::from_bytes(std::span<const std::uint8_t> bytes, const ReaderOptions& options) {
  return Messages::create([&] { return open_messages(read_memory(bytes), "", options.compressions); },
                          options);
}

const Metadata& Reader::metadata() const noexcept { return messages_->metadata; }
bool Reader::is_own() const noexcept { return messages_->own_.has_value(); }
SetupResult<const Record*> Reader::next() { return messages_->next(); }
bool Reader::truncated() const noexcept { return messages_->source_->truncated(); }
std::uint64_t Reader::position() const noexcept { return messages_->source_->position(); }
std::vector<LeftOut> Reader::left_out() const {
  return messages_->foreign_ ? messages_->foreign_->left_out() : std::vector<LeftOut>();
}
std::vector<LostPart> Reader::lost() const {
  std::vector<LostPart> parts = messages_->source_->lost();
  for (LostPart& part : parts) {
    if (part.from) *part.from -= messages_->metadata.epoch;
    if (part.until) *part.until -= messages_->metadata.epoch;
  }
  return parts;
}

std::string LostPart::text(Time start) const {
  if (chunk == 0) return reason.message;
  std::string text = fmt::format("{}: chunk {} of {} bytes is left out", reason.message, chunk, size);
  if (messages) text += fmt::format(", {} messages", *messages);
  if (from && until)
    text += fmt::format(", from {:.3f} s to {:.3f} s", to_seconds(*from - start), to_seconds(*until - start));
  return text;
}

std::string LeftOut::text() const { return fmt::format("{}: {} messages: {}", topic, messages, reason); }

std::optional<EndTotals> Reader::totals() const {
  const auto& metadata = messages_->source_->metadata();
  const auto found = metadata.find(totals_metadata);
  if (found == metadata.end()) return std::nullopt;
  const auto records = number_in(found->second, "records");
  const auto dropped = number_in(found->second, "dropped");
  if (!records || !dropped) return std::nullopt;
  return EndTotals{*records, *dropped};
}

}  // namespace takt::record
