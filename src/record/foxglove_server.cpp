#include "takt/record/foxglove_server.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "component/parameter_value_json.hpp"
#include "json/strict.hpp"

namespace takt::record {
namespace {

using json::Value;

constexpr std::uint64_t largest_id = UINT32_MAX;
constexpr std::size_t max_list = 4096;  ///< entries of a list in a request
constexpr Duration look_interval = std::chrono::milliseconds(500);
constexpr char opcode_data = 1;
constexpr char opcode_time = 2;

enum class Level { info = 0, warning = 1, error = 2 };

std::string text_of(const Value& value) {
  return value.dump(-1, ' ', false, Value::error_handler_t::replace);
}

void append_little(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
}

std::string status(Level level, std::string_view message) {
  return text_of({{"op", "status"}, {"level", static_cast<int>(level)}, {"message", message}});
}

Value to_json(const component::Assignment& parameter) {
  Value one = {{"name", parameter.parameter}, {"value", component::to_json(parameter.value)}};
  if (std::holds_alternative<double>(parameter.value)) one["type"] = "float64";
  if (std::holds_alternative<std::vector<double>>(parameter.value)) one["type"] = "float64_array";
  return one;
}

Value advertisement_of(const std::vector<LiveChannel>& channels) {
  Value list = Value::array();
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const LiveChannel& channel = channels[i];
    list.push_back({{"id", i},
                    {"topic", channel.topic},
                    {"encoding", channel.encoding},
                    {"schemaName", channel.schema_name},
                    {"schema", channel.schema},
                    {"schemaEncoding", channel.schema_encoding}});
  }
  return {{"op", "advertise"}, {"channels", std::move(list)}};
}

}  // namespace

/// A request for parameters, and its answer. It outlives a client that vanishes.
struct FoxgloveServer::Work {
  ClientId client = 0;  ///< 0: the server's own look at the parameters
  std::optional<std::string> id;
  std::vector<std::string> names;  ///< those wanted in the answer; empty: all
  std::vector<component::Assignment> changes;
  bool begun = false;

  void run(const ParameterDesk& desk) {
    answer = desk(changes);
    done.store(true, std::memory_order_release);  // release: a thread that reads true also sees the answer
  }
  [[nodiscard]] bool wants(std::string_view name) const {
    return names.empty() || std::ranges::find(names, name) != names.end();
  }
  [[nodiscard]] bool is_answered() const { return client != 0 && (changes.empty() || id); }

  ParameterAnswer answer;
  std::atomic<bool> done{false};
};

/// Reads one request of a client, and obeys what is right in it.
class FoxgloveServer::Reader {
 public:
  Reader(FoxgloveServer& server, ClientId client, const Value& request)
      : server_(&server), client_(client), body_(request, "", mistakes_) {}

  void obey() {
    const auto op = body_.require("op");
    if (op != nullptr) {
      const auto found = std::ranges::find_if(verbs, [op](const auto& verb) { return *op == verb.first; });
      if (found == verbs.end()) {
        server_->refuse(client_, "this server has no operation " + json::text_of(*op));
      } else {
        (this->*found->second)();
      }
    }
    for (const json::Mistake& mistake : mistakes_.list())
      server_->refuse(client_, mistake.where + ": " + mistake.reason);
  }

 private:
  /// Calls `use(entry, place)` for each entry of a list.
  template <class Use>
  void each(std::string_view key, Use&& use) {
    const Value* list = body_.require(key);
    if (list == nullptr) return;
    if (!list->is_array() || list->size() > max_list)
      return mistakes_.add(body_.at(key), "is not a list of at most 4096 entries");
    for (std::size_t i = 0; i < list->size(); ++i) use((*list)[i], json::child(body_.at(key), i));
  }
  [[nodiscard]] std::vector<std::string> names() {
    std::vector<std::string> list;
    each("parameterNames", [&](const Value& entry, const std::string& place) {
      if (entry.is_string()) return list.push_back(entry.get<std::string>());
      mistakes_.add(place, "is not a text");
    });
    return list;
  }
  /// The id of a request, for its answer.
  [[nodiscard]] std::optional<std::string> id() {
    const Value* value = body_.find("id");
    if (value == nullptr || value->is_null()) return std::nullopt;
    if (value->is_string()) return value->get<std::string>();
    mistakes_.add(body_.at("id"), "is not a text");
    return std::nullopt;
  }

  void subscribe() {
    each("subscriptions", [&](const Value& entry, const std::string& place) {
      json::Object one(entry, place, mistakes_);
      const Value* const id = one.require("id");
      const Value* const channel = one.require("channelId");
      if (id == nullptr || channel == nullptr) return;
      const auto id_number = json::to_integer(*id, one.at("id"), mistakes_, 0, largest_id);
      const auto channel_number = json::to_integer(*channel, one.at("channelId"), mistakes_, 0, largest_id);
      if (id_number && channel_number) server_->subscribe(client_, *id_number, *channel_number);
    });
  }
  void unsubscribe() {
    each("subscriptionIds", [&](const Value& entry, const std::string& place) {
      if (const auto id = json::to_integer(entry, place, mistakes_, 0, largest_id))
        server_->unsubscribe(client_, *id);
    });
  }

  void get_parameters() {
    auto work = std::make_shared<Work>();
    work->client = client_;
    work->names = names();
    work->id = id();
    if (mistakes_.empty()) server_->ask(std::move(work));
  }
  void set_parameters() {
    auto work = std::make_shared<Work>();
    work->client = client_;
    work->id = id();
    each("parameters", [&](const Value& entry, const std::string& place) {
      json::Object one(entry, place, mistakes_);
      std::string name;
      one.required_name("name", name);
      const Value* const value = one.find("value");
      if (value == nullptr) return mistakes_.add(place, "has no value; a parameter cannot be deleted");
      if (auto read = component::value_from_json(*value, one.at("value"), mistakes_))
        work->changes.push_back({name, std::move(*read)});
      work->names.push_back(std::move(name));
    });
    if (mistakes_.empty() && !work->changes.empty()) server_->ask(std::move(work));
  }
  void watch() { server_->watch(client_, names(), true); }
  void stop_watching() { server_->watch(client_, names(), false); }

  using Verb = void (Reader::*)();
  static constexpr std::array<std::pair<const char*, Verb>, 6> verbs{
      {{"subscribe", &Reader::subscribe},
       {"unsubscribe", &Reader::unsubscribe},
       {"getParameters", &Reader::get_parameters},
       {"setParameters", &Reader::set_parameters},
       {"subscribeParameterUpdates", &Reader::watch},
       {"unsubscribeParameterUpdates", &Reader::stop_watching}}};

  FoxgloveServer* server_;
  ClientId client_;
  json::Mistakes mistakes_{4};
  json::Object body_;
};

FoxgloveServer::FoxgloveServer(FoxgloveOptions options, std::vector<LiveChannel> channels)
    : options_(std::move(options)),
      channels_(std::move(channels)),
      advertisement_(text_of(advertisement_of(channels_))) {}

// ---- messages to clients ----

bool FoxgloveServer::wants(std::size_t channel) const {
  return std::ranges::any_of(clients_, [channel](const auto& client) {
    return std::ranges::any_of(client.second.subscriptions,
                               [channel](const auto& one) { return one.second == channel; });
  });
}

void FoxgloveServer::publish(std::size_t channel, std::uint64_t time, std::string_view message) {
  for (const auto& [number, client] : clients_) {
    for (const auto& [id, its_channel] : client.subscriptions) {
      if (its_channel != channel) continue;
      std::string bytes(1, opcode_data);
      append_little(bytes, id, 4);
      append_little(bytes, time, 8);
      bytes += message;
      send_sample(number, std::move(bytes));
    }
  }
}

void FoxgloveServer::tell_time(std::uint64_t time) {
  std::string bytes(1, opcode_time);
  append_little(bytes, time, 8);
  for (const auto& [number, client] : clients_) send_sample(number, bytes);
}

void FoxgloveServer::warn(std::string_view text) {
  for (const auto& [number, client] : clients_) send(number, status(Level::warning, text));
}

void FoxgloveServer::refuse(ClientId client, std::string_view reason) {
  send(client, status(Level::error, reason));
}

void FoxgloveServer::send(ClientId client, std::string text) {
  output_.push_back({client, MessageKind::text, std::move(text), false});
}

void FoxgloveServer::send_sample(ClientId client, std::string bytes) {
  output_.push_back({client, MessageKind::binary, std::move(bytes), true});
}

// ---- the service ----

void FoxgloveServer::connected(ClientId client, Time /*now*/) {
  clients_.try_emplace(client);
  Value capabilities = {"time"};
  if (options_.parameters) capabilities.insert(capabilities.end(), {"parameters", "parametersSubscribe"});
  send(client, text_of({{"op", "serverInfo"},
                        {"name", options_.name},
                        {"capabilities", std::move(capabilities)},
                        {"supportedEncodings", Value::array()},
                        {"metadata", Value::object()},
                        {"sessionId", options_.session}}));
  send(client, advertisement_);
}

void FoxgloveServer::received(ClientId client, MessageKind kind, std::string_view bytes, Time /*now*/) {
  if (kind == MessageKind::binary) return refuse(client, "this server takes no binary messages");
  const auto request = json::parse(bytes);
  if (!request) return refuse(client, "the message is not JSON: " + request.error().reason);
  Reader(*this, client, *request).obey();
}

void FoxgloveServer::disconnected(ClientId client, Time /*now*/) {
  clients_.erase(client);
  std::erase_if(requests_, [client](const auto& work) { return work->client == client && !work->begun; });
}

Duration FoxgloveServer::poll(Time now) {
  const bool is_watched =
      std::ranges::any_of(clients_, [](const auto& client) { return !client.second.watched.empty(); });
  if (is_watched && requests_.empty() && now >= next_look_) {
    next_look_ = now + look_interval;
    requests_.push_back(std::make_shared<Work>());
  }
  advance();
  return requests_.empty() ? look_interval : std::chrono::milliseconds(2);
}

// ---- subscriptions ----

void FoxgloveServer::subscribe(ClientId client, std::uint64_t id, std::uint64_t channel) {
  auto& subscriptions = clients_[client].subscriptions;
  const auto number = static_cast<std::uint32_t>(id);
  if (channel >= channels_.size()) return refuse(client, "there is no channel " + std::to_string(channel));
  if (subscriptions.contains(number))
    return refuse(client, "subscription " + std::to_string(id) + " exists already");
  if (subscriptions.size() == options_.max_subscriptions) return refuse(client, "too many subscriptions");
  subscriptions.emplace(number, channel);
}

void FoxgloveServer::unsubscribe(ClientId client, std::uint64_t id) {
  if (clients_[client].subscriptions.erase(static_cast<std::uint32_t>(id)) == 0)
    refuse(client, "there is no subscription " + std::to_string(id));
}

// ---- parameters ----

void FoxgloveServer::watch(ClientId client, const std::vector<std::string>& names, bool wanted) {
  if (!options_.parameters) return refuse(client, "this server has no parameters");
  auto& watched = clients_[client].watched;
  for (const std::string& name : names) {
    if (!wanted) {
      watched.erase(name);
    } else if (watched.size() < options_.max_watched) {
      watched.insert(name);
    } else {
      return refuse(client, "too many parameters");
    }
  }
}

void FoxgloveServer::ask(std::shared_ptr<Work> work) {
  if (!options_.parameters) return refuse(work->client, "this server has no parameters");
  if (requests_.size() >= options_.max_requests)
    return refuse(work->client, "too many requests for parameters");
  requests_.push_back(std::move(work));
  advance();
}

/// Sends the answers that have come, and begins the next request.
void FoxgloveServer::advance() {
  while (!requests_.empty()) {
    const std::shared_ptr<Work> work = requests_.front();
    if (!std::exchange(work->begun, true))
      options_.executor([work, desk = options_.parameters] { work->run(desk); });
    if (!work->done.load(std::memory_order_acquire)) return;  // acquire: pairs with the release of run()
    requests_.pop_front();
    answer(*work);
  }
}

void FoxgloveServer::answer(const Work& work) {
  if (clients_.contains(work.client)) {
    for (const std::string& mistake : work.answer.mistakes) refuse(work.client, mistake);
    if (work.is_answered()) {
      Value reply = {{"op", "parameterValues"}, {"parameters", Value::array()}};
      for (const component::Assignment& one : work.answer.values) {
        if (work.wants(one.parameter)) reply["parameters"].push_back(to_json(one));
      }
      if (work.id) reply["id"] = *work.id;
      send(work.client, text_of(reply));
    }
  }
  tell_changes(work.answer.values);
}

/// Sends changed values to the clients that subscribed to them.
void FoxgloveServer::tell_changes(const std::vector<component::Assignment>& values) {
  std::map<std::string, component::ParameterValue, std::less<>> fresh;
  for (const component::Assignment& one : values) fresh.emplace(one.parameter, one.value);
  for (const auto& [number, client] : clients_) {
    Value changed = Value::array();
    for (const auto& [name, value] : fresh) {
      const auto before = known_.find(name);
      const bool is_news = before == known_.end() ? !known_.empty() : before->second != value;
      if (is_news && client.watched.contains(name)) changed.push_back(to_json({name, value}));
    }
    if (!changed.empty())
      send(number, text_of({{"op", "parameterValues"}, {"parameters", std::move(changed)}}));
  }
  known_ = std::move(fresh);
}

}  // namespace takt::record
