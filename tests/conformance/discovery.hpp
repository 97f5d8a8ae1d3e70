#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace jobman::conformance {

/// A judge of messages of the Cloud TPU API and of the services beside it. It knows
/// data/discovery.json, data/side_services.json and nothing else: no code of the client or of the
/// simulator.
using Json = nlohmann::json;

/// The JSON in a file of data/; a missing or broken one ends the test program.
Json ReadData(const std::string& name);

/// One version of the API, "v2" or "v2alpha1", or another service, "compute.v1": {parameters,
/// methods, messages}.
const Json& Document(const std::string& version);

/// What is wrong, and where: "body.tpu.nodeSpec[0].node.labels".
struct Fault {
  std::string at = {};
  std::string what = {};
  friend bool operator==(const Fault&, const Fault&) = default;
};
using Faults = std::vector<Fault>;
std::ostream& operator<<(std::ostream& out, const Fault& fault);

/// A request as it is sent.
struct Sent {
  std::string method = {};
  std::string target = {};  ///< path and query: "/v2/projects/..?nodeId=a"
  std::string body = {};    ///< empty: none
};

struct Verdict {
  std::string id = {};  ///< the method: "tpu.projects.locations.nodes.create"; empty: none fits
  Faults faults = {};
};

/// Undoes percent-encoding.
std::string PercentDecoded(const std::string& text);
/// "network_config" as "networkConfig".
std::string CamelCase(const std::string& name);

/// Whether the documents have the method, its parameters and every field of the body, each with a
/// value of its type and format, and none that only the service sets.
Verdict JudgeRequest(const Sent& sent);
/// The same of any document.
Verdict JudgeRequest(const std::string& version, const Sent& sent);

/// Whether `body` is such a message as the service sends it: known fields with values of their
/// types, no default values, and in an Any a message that its @type names.
Faults JudgeReply(const std::string& version, const std::string& message, const Json& body);

/// Whether an answer of an HTTP status from 400 on has the form of Google's APIs.
Faults JudgeError(int status, const Json& body);
/// The same for Compute Engine, Cloud Storage and BigQuery, whose errors have a list, each with a
/// `reason`. Source: documentation of these, "HTTP status and error codes".
Faults JudgeOlderError(int status, const Json& body);

}  // namespace jobman::conformance
