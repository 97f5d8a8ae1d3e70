#include "sim/schema/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <regex>

#include "jobman/base/strings.hpp"
#include "jobman/base/time.hpp"
#include "sim/wire/filter.hpp"
#include "sim/wire/json.hpp"

namespace jobman::sim {

namespace {

// Compute Engine documentation: "Organize resources using labels", "About VM metadata", "Naming
// resources", "Add network tags".
constexpr std::size_t kMostLabels = 64;
constexpr std::size_t kMostTags = 64;
constexpr std::size_t kLongestValue = 256 << 10;
constexpr std::size_t kMostMetadata = 512 << 10;
constexpr std::size_t kLongestText = 2000;  ///< of what a std::regex reads

bool IsLike(const std::string& text, const std::regex& form) {
  return text.size() <= kLongestText && std::regex_match(text, form);
}

bool IsResourceName(const std::string& text) {
  static const std::regex kForm("[a-z]([-a-z0-9]{0,61}[a-z0-9])?");
  return IsLike(text, kForm);
}

class Checker {
 public:
  Checker(base::TimePoint now, Violations& violations) : now_(now), violations_(violations) {}

  void Node(const std::string& at, const Json& node) {
    Labels(at + ".labels", Member(node, "labels"));
    Tags(at + ".tags", Member(node, "tags"));
    Metadata(at + ".metadata", Member(node, "metadata"));
    Network(at + ".network_config", Member(node, "networkConfig"));
    const Json& more = Member(node, "networkConfigs");
    for (std::size_t i = 0; i < more.size(); ++i) {
      Network(fmt::format("{}.network_configs[{}]", at, i), more[i]);
    }
    Account(at + ".service_account.email", Text(Member(node, "serviceAccount"), "email"));
  }

  /// gcloud's update sends the whole node back, with the type in both forms.
  void NewNode(const std::string& at, const Json& node) {
    Node(at, node);
    if (Text(node, "acceleratorType").empty() || !node.contains("acceleratorConfig")) return;
    Refuse(at + ".accelerator_config", "only one of acceleratorType and acceleratorConfig");
  }

  void Queued(const std::string& at, const Json& queued) {
    const Json& specs = Member(Member(queued, "tpu"), "nodeSpec");
    for (std::size_t i = 0; i < specs.size(); ++i) {
      NewNode(fmt::format("{}.tpu.node_spec[{}].node", at, i), Member(specs[i], "node"));
    }
    Reservation(at + ".reservation_name", Text(queued, "reservationName"));
    Policy(at + ".queueing_policy", Member(queued, "queueingPolicy"));
    RunDuration(at, queued);
  }

 private:
  void Refuse(const std::string& at, const std::string& why) {
    violations_.push_back(
        {.field = at, .description = fmt::format("Invalid value at '{}': {}", at, why)});
  }

  void Labels(const std::string& at, const Json& labels) {
    // Letters of other alphabets are allowed too: bytes of UTF-8 from 0x80 on.
    static const std::regex kKey("[a-z\x80-\xff][-_a-z0-9\x80-\xff]{0,62}");
    static const std::regex kValue("[-_a-z0-9\x80-\xff]{0,63}");
    if (labels.size() > kMostLabels) Refuse(at, "more than 64 labels");
    for (const auto& [key, value] : labels.items()) {
      if (!IsLike(key, kKey)) Refuse(at, Json(key).dump() + " is not the key of a label");
      if (!IsLike(value, kValue)) Refuse(at, value.dump() + " is not the value of a label");
    }
  }

  void Tags(const std::string& at, const Json& tags) {
    if (tags.size() > kMostTags) Refuse(at, "more than 64 tags");
    for (const Json& tag : tags) {
      if (!IsResourceName(tag)) Refuse(at, tag.dump() + " is not a network tag");
    }
  }

  void Metadata(const std::string& at, const Json& metadata) {
    static const std::regex kKey("[-_A-Za-z0-9]{1,128}");
    std::size_t total = 0;
    for (const auto& [key, value] : metadata.items()) {
      const std::size_t size = value.get_ref<const std::string&>().size();
      total += key.size() + size;
      if (!IsLike(key, kKey)) Refuse(at, Json(key).dump() + " is not a key of metadata");
      if (size > kLongestValue) Refuse(at, "the value of " + key + " is longer than 256 KiB");
    }
    if (total > kMostMetadata) Refuse(at, "longer than 512 KiB in all");
  }

  /// A name, or a path or an address that ends with one.
  void Network(const std::string& at, const Json& config) {
    static const std::regex kPath("(https://[-.a-z0-9]+/)?([-.:_a-zA-Z0-9]+/)*");
    for (const char* field : {"network", "subnetwork"}) {
      const std::string text = Text(config, field);
      if (text.empty()) continue;
      const std::size_t name = text.rfind('/') + 1;
      if (IsResourceName(text.substr(name)) && IsLike(text.substr(0, name), kPath)) continue;
      Refuse(at + "." + field, Json(text).dump() + " is not the name of a " + field);
    }
  }

  void Account(const std::string& at, const std::string& email) {
    static const std::regex kForm(R"([^@\s]+@[^@\s.]+(\.[^@\s.]+)+)");
    if (email.empty() || email == "default" || IsLike(email, kForm)) return;
    Refuse(at, Json(email).dump() + " is not the email address of a service account");
  }

  void Reservation(const std::string& at, const std::string& name) {
    static const std::regex kForm("projects/[^/ ]+/locations/[^/ ]+/reservations/[^/ ]+");
    if (name.empty() || IsLike(name, kForm)) return;
    Refuse(at, Json(name).dump() + " is not projects/P/locations/Z/reservations/R");
  }

  static bool IsPositive(const std::string& duration) {
    return !duration.starts_with('-') && duration.find_first_not_of("0.s") != std::string::npos;
  }

  /// Cloud TPU documentation, "Request Cloud TPUs using Flex-start": for up to 7 days.
  void RunDuration(const std::string& at, const Json& queued) {
    constexpr base::Duration kMostFlexStart = std::chrono::hours(7 * 24);
    const std::string field = at + ".run_duration.max_run_duration";
    const std::string text = Text(Member(queued, "runDuration"), "maxRunDuration");
    if (!text.empty() && !IsPositive(text)) Refuse(field, text + " is not a positive duration");
    if (Text(queued, "provisioningModel") != "FLEX_START") return;
    const auto duration = base::ParseDuration(text);
    if (text.empty()) Refuse(field, "FLEX_START needs it");
    if (duration.ok() && *duration > kMostFlexStart) Refuse(field, "longer than 7 days");
  }

  /// A time of google.protobuf.Timestamp in the past, or a duration that is none.
  void Policy(const std::string& at, const Json& policy) {
    const auto until = base::ParseRfc3339(Text(policy, "validUntilTime"));
    if (until.ok() && *until <= now_) Refuse(at + ".valid_until_time", "it has passed");
    const Json& interval = Member(policy, "validInterval");
    const auto start = base::ParseRfc3339(Text(interval, "startTime"));
    const auto end = base::ParseRfc3339(Text(interval, "endTime"));
    if (end.ok() && *end <= now_) Refuse(at + ".valid_interval", "it has passed");
    if (start.ok() && end.ok() && *end <= *start) {
      Refuse(at + ".valid_interval", "it ends before it starts");
    }
    for (const auto& [name, field] : {std::pair{"validUntilDuration", "valid_until_duration"},
                                      std::pair{"validAfterDuration", "valid_after_duration"}}) {
      const std::string text = Text(policy, name);
      if (!text.empty() && !IsPositive(text))
        Refuse(at + "." + field, text + " is not a positive duration");
    }
  }

  base::TimePoint now_;
  Violations& violations_;
};

/// Whether the message has the field at the path, as far as its type is known.
bool HasField(std::string type, const std::string& path, const std::string& version) {
  for (const std::string& name : base::Split(path, '.')) {
    const SchemaMessage* const message = ApiSchema::Get().Message(type);
    if (message == nullptr) return true;  // inside a map or an Any
    const SchemaField* const field = FindField(*message, name);
    if (field == nullptr || !IsIn(field->versions, version)) return false;
    if (field->shape == SchemaField::Shape::kMap) return true;
    type = field->type;
  }
  return true;
}

/// The message of which the reply is a list; empty if it is none.
std::string ListedMessage(const std::string& reply) {
  const SchemaMessage* const message = ApiSchema::Get().Message(reply);
  if (message == nullptr) return {};
  for (const SchemaField& field : *message) {
    const bool list = field.shape == SchemaField::Shape::kList;
    if (list && ApiSchema::Get().Message(field.type) != nullptr) return field.type;
  }
  return {};
}

std::string Value(const std::map<std::string, std::string>& query, const std::string& name) {
  const auto found = query.find(name);
  return found == query.end() ? std::string{} : found->second;
}

}  // namespace

void CheckListing(const SchemaMethod& method, const std::string& version,
                  const std::map<std::string, std::string>& query, Violations& violations) {
  const std::string listed = ListedMessage(method.reply);
  const auto check = [&](const std::string& parameter, const std::string& path) {
    if (listed.empty() || HasField(listed, path, version)) return;
    violations.push_back(
        {.field = parameter,
         .description = fmt::format("Invalid {}: there is no field '{}'.", parameter, path)});
  };
  const auto filter = ParseFilter(Value(query, "filter"));
  for (const FilterTerm& term : filter.value_or(Filter{})) check("filter", term.path);
  const std::string order = Value(query, "orderBy");
  if (order.empty()) return;
  const auto fields = ParseOrder(order);
  for (const SortField& field : fields.value_or(std::vector<SortField>{})) {
    check("orderBy", field.path);
  }
}

void CheckValues(const SchemaMethod& method, const Json& body, base::TimePoint now,
                 Violations& violations) {
  Checker checker(now, violations);
  const bool creates = method.http == "POST";
  if (method.body == "Node" && creates) checker.NewNode("node", body);
  if (method.body == "Node" && !creates) checker.Node("node", body);
  if (method.body == "QueuedResource") checker.Queued("queued_resource", body);
}

}  // namespace jobman::sim
