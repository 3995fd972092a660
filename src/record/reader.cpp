#include "takt/record/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "record/file_chain.hpp"
#include "record/foreign_messages.hpp"
#include "record/message_source.hpp"
#include "record/own_messages.hpp"
#include "record/recording_messages.hpp"
#include "takt/record/byte_source.hpp"

namespace takt::record {
namespace {

/// Opens a file anew.
using OpenMessages = std::function<SetupResult<std::unique_ptr<MessageSource>>(const std::string& path)>;
using Texts = std::map<std::string, std::string>;

/// The named texts of a source; empty without them.
Texts texts_of(const MessageSource& source, const char* name) {
  const auto found = source.metadata().find(name);
  return found == source.metadata().end() ? Texts() : found->second;
}

std::optional<std::uint64_t> number_in(const Texts& entries, const char* name) {
  const auto found = entries.find(name);
  std::uint64_t number = 0;
  if (found == entries.end()) return std::nullopt;
  const char* end = found->second.data() + found->second.size();
  const auto [stop, error] = std::from_chars(found->second.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

/// Opens the file with the definitions that an earlier reading found; null: there was none.
SetupResult<std::unique_ptr<MessageSource>> reopen(const OpenMessages& open, const std::string& path,
                                                   const MessageSource* earlier) {
  auto source = open(path);
  if (source && earlier != nullptr) (*source)->know_definitions_of(*earlier);
  return source;
}

tl::unexpected<SetupError> other_recording(const std::string& path) {
  return fail(Errc::not_a_recording, path + ": it is not a later file of the same recording");
}

}  // namespace

/// A file, or the files of a rotated recording, read as records.
class Reader::Messages {
 public:
  static SetupResult<Reader> create(OpenMessages open, FileChain files, const ReaderOptions& options);

  SetupResult<const Record*> next() {
    while (true) {
      if (failure_) return tl::unexpected<SetupError>(*failure_);
      if (is_done_) return nullptr;
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
      if (is_at_end_) {
        begin_next_file();
        continue;
      }
      if (message) last_ = (*message)->log_time;
      auto record = message ? take(**message) : tl::unexpected<SetupError>(std::move(message.error()));
      if (!record) failure_ = record.error();
      if (!record || *record != nullptr) return record;
    }
  }

  Metadata metadata;
  std::unique_ptr<MessageSource> source_;
  std::vector<LostPart> lost_before_;  ///< in the files before, and between them
  std::optional<OwnMessages> own_;
  std::optional<ForeignMessages> foreign_;

  Messages(std::unique_ptr<MessageSource> source, OpenMessages open, FileChain files, bool pass_over_damage)
      : source_(std::move(source)),
        open_(std::move(open)),
        files_(std::move(files)),
        pass_over_damage_(pass_over_damage) {}

 private:
  SetupResult<const Record*> take(const FileMessage& message) {
    if (own_) return own_->take(*source_, message);
    foreign_->take(*source_, message);
    return nullptr;
  }
  SetupResult<bool> begin_own();
  SetupResult<void> begin_foreign(const ReaderOptions& options);
  void begin_next_file();
  SetupResult<std::unique_ptr<MessageSource>> open_next(const std::string& path);
  void begin_messages(const SetupResult<const FileMessage*>& first);
  void lose_between(const std::string& named, const std::string& next);

  OpenMessages open_;
  FileChain files_;
  bool pass_over_damage_;
  const FileMessage* first_ = nullptr;  ///< which was read to find the metadata
  bool is_first_taken_ = true;
  bool is_at_end_ = false;   ///< of the present file
  bool is_done_ = false;     ///< no file follows
  std::uint64_t begin_ = 0;  ///< log time of the file's first message
  std::uint64_t last_ = 0;   ///< log time of the message that came last
  std::optional<SetupError> failure_;
};

SetupResult<Reader> Reader::Messages::create(OpenMessages open, FileChain files,
                                             const ReaderOptions& options) {
  auto source = open(files.present());
  if (!source) return tl::unexpected<SetupError>(std::move(source.error()));
  auto messages = std::make_unique<Messages>(std::move(*source), std::move(open), std::move(files),
                                             options.pass_over_damage);
  const auto is_own = messages->begin_own();
  if (!is_own) return tl::unexpected<SetupError>(is_own.error());
  if (!*is_own) {
    if (auto begun = messages->begin_foreign(options); !begun)
      return tl::unexpected<SetupError>(std::move(begun.error()));
  }
  return Reader(std::move(messages));
}

/// Reads up to the first message, before which takt writes its metadata. Returns false if there is none.
SetupResult<bool> Reader::Messages::begin_own() {
  auto first = source_->next();
  if (pass_over_damage_ && !source_->lost().empty()) {
    // The lost part may have defined messages. The end of the file defines them again.
    while (first && *first != nullptr) first = source_->next();
    auto again = reopen(open_, files_.present(), source_.get());
    if (!again) return tl::unexpected<SetupError>(std::move(again.error()));
    source_ = std::move(*again);
    first = source_->next();
  }
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
  begin_messages(first);
  return true;
}

void Reader::Messages::begin_messages(const SetupResult<const FileMessage*>& first) {
  first_ = first ? *first : nullptr;
  is_first_taken_ = first_ == nullptr;
  if (first_ != nullptr) begin_ = first_->log_time;
}

/// At the end of a file: goes on with the next one of the recording, or is done.
void Reader::Messages::begin_next_file() {
  is_done_ = true;
  if (!own_) return;
  const std::string named = texts_of(*source_, continues_metadata)["file"];
  for (const std::string& path : files_.candidates(named)) {
    if (named.empty() && !source_->truncated()) {
      if (files_.is_fixed()) failure_ = other_recording(path).value();
      return;
    }
    auto next = open_next(path);
    if (!next && !files_.is_fixed()) continue;
    if (!next) return void(failure_ = std::move(next.error()));
    lose_between(named, path);
    source_ = std::move(*next);
    files_.go_to(path);
    own_->begin_file();
    is_done_ = false;
    return;
  }
  if (!named.empty() && !files_.is_fixed()) lose_between(named, {});
}

/// Opens a file, and reads its first message. Error: it is not a later file of this recording.
SetupResult<std::unique_ptr<MessageSource>> Reader::Messages::open_next(const std::string& path) {
  auto opened = open_(path);
  if (!opened) return opened;
  const auto first = (*opened)->next();
  if (!first) return tl::unexpected<SetupError>(first.error());
  const bool is_later = *first == nullptr || (*first)->log_time >= begin_;
  if (!is_later || texts_of(**opened, recording_metadata) != texts_of(*source_, recording_metadata))
    return other_recording(path);
  begin_messages(first);
  return opened;
}

/// Notes what was lost in the present file, and a gap between it and the next one; "": there is none.
void Reader::Messages::lose_between(const std::string& named, const std::string& next) {
  const std::vector<LostPart>& lost = source_->lost();
  if (!next.empty()) lost_before_.insert(lost_before_.end(), lost.begin(), lost.end());
  if (FileChain::is_meant(named, next)) return;
  LostPart gap;
  const std::string why =
      named.empty() ? "it stops before its end" : fmt::format("it goes on in {}, which is missing", named);
  gap.reason = {Errc::cannot_open, fmt::format("{}: {}", files_.present(), why)};
  gap.from = time_of(last_);
  if (!next.empty()) {
    gap.reason.message += fmt::format("; {} follows", next);
    gap.until = time_of(begin_);
  }
  if (!pass_over_damage_) failure_ = gap.reason;
  lost_before_.push_back(std::move(gap));
}

SetupResult<void> read_to_end(MessageSource& source, ForeignOutline& outline) {
  while (true) {
    const auto message = source.next();
    if (!message) return tl::unexpected<SetupError>(message.error());
    if (*message == nullptr) return {};
    outline.take(source, **message);
  }
}

SetupResult<void> Reader::Messages::begin_foreign(const ReaderOptions& options) {
  if (!files_.candidates({}).empty() && files_.is_fixed()) return other_recording(files_.present());
  SetupResult<std::unique_ptr<MessageSource>> read = nullptr;
  ForeignOutline outline(options.topic);
  // A lost chunk may have had the definitions of messages in others. The end of the file has them, too.
  for (bool is_complete = false; !is_complete;) {
    const bool is_first = *read == nullptr;
    read = reopen(open_, files_.present(), read->get());
    if (!read) return tl::unexpected<SetupError>(std::move(read.error()));
    outline = ForeignOutline(options.topic);
    const auto done = read_to_end(**read, outline);
    is_complete = !is_first || (*read)->lost().empty();
    if (!done && is_complete) return tl::unexpected<SetupError>(done.error());
    if (!options.pass_over_damage && !(*read)->lost().empty())
      return tl::unexpected<SetupError>((*read)->lost().front().reason);
  }
  auto again = reopen(open_, files_.present(), read->get());
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

/// The files in the order of their first messages. Without a message, a file stays behind those before it.
SetupResult<std::vector<std::string>> in_order(const std::vector<std::string>& paths,
                                               const OpenMessages& open) {
  std::vector<std::pair<std::uint64_t, std::string>> begins;
  for (const std::string& path : paths) {
    const auto source = open(path);
    if (!source) return tl::unexpected<SetupError>(source.error());
    const auto first = (*source)->next();
    if (!first) return tl::unexpected<SetupError>(first.error());
    const std::uint64_t before = begins.empty() ? 0 : begins.back().first;
    begins.emplace_back(*first != nullptr ? (*first)->log_time : before, path);
  }
  std::ranges::stable_sort(begins, {}, &std::pair<std::uint64_t, std::string>::first);
  std::vector<std::string> sorted;
  for (auto& [time, path] : begins) sorted.push_back(std::move(path));
  return sorted;
}

OpenMessages opening_of(const ReaderOptions& options) {
  return [compressions =
              options.compressions](const std::string& path) -> SetupResult<std::unique_ptr<MessageSource>> {
    auto bytes = open_file(path);
    if (!bytes) return tl::unexpected<SetupError>(std::move(bytes.error()));
    return open_messages(std::move(*bytes), path + ": ", compressions);
  };
}

SetupResult<Reader> Reader::open(const std::string& path, const ReaderOptions& options) {
  return Messages::create(opening_of(options), FileChain::alone(path), options);
}

SetupResult<Reader> Reader::open_rotated(const std::vector<std::string>& paths,
                                         const ReaderOptions& options) {
  if (paths.empty()) return fail(Errc::cannot_open, "no file is given");
  if (paths.size() == 1)
    return Messages::create(opening_of(options), FileChain::from(paths.front()), options);
  auto sorted = in_order(paths, opening_of(options));
  if (!sorted) return tl::unexpected<SetupError>(std::move(sorted.error()));
  return Messages::create(opening_of(options), FileChain::of(std::move(*sorted)), options);
}

SetupResult<Reader> Reader::from_bytes(std::span<const std::uint8_t> bytes, const ReaderOptions& options) {
  const auto open = [bytes, compressions = options.compressions](const std::string&) {
    return open_messages(read_memory(bytes), "", compressions);
  };
  return Messages::create(open, FileChain::alone({}), options);
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
  std::vector<LostPart> parts = messages_->lost_before_;
  const std::vector<LostPart>& present = messages_->source_->lost();
  parts.insert(parts.end(), present.begin(), present.end());
  for (LostPart& part : parts) {
    if (part.from) *part.from -= messages_->metadata.epoch;
    if (part.until) *part.until -= messages_->metadata.epoch;
  }
  return parts;
}

std::string LostPart::text(Time start) const {
  std::string text = reason.message;
  if (chunk != 0) text += fmt::format(": chunk {} of {} bytes is left out", chunk, size);
  if (messages) text += fmt::format(", {} messages", *messages);
  if (from) text += fmt::format(", from {:.3f} s", to_seconds(*from - start));
  if (from && until) text += fmt::format(" to {:.3f} s", to_seconds(*until - start));
  return text;
}

std::string LeftOut::text() const { return fmt::format("{}: {} messages: {}", topic, messages, reason); }

std::optional<EndTotals> Reader::totals() const {
  const Texts texts = texts_of(*messages_->source_, totals_metadata);
  const auto records = number_in(texts, "records");
  const auto dropped = number_in(texts, "dropped");
  if (!records || !dropped) return std::nullopt;
  return EndTotals{*records, *dropped};
}

}  // namespace takt::record
