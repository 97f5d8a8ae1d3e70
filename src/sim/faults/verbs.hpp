#pragma once

#include <string>
#include <vector>

#include "jobman/base/result.hpp"
#include "sim/wire/json.hpp"

namespace jobman::sim {

struct Targets;

/// An argument of a verb: a word on the command line, a member of the body over HTTP.
struct Argument {
  enum class Kind {
    kText,
    kNumber,
    kFlag,
    kHost,      ///< NODE/INDEX; over HTTP two members, `node` and `index`
    kFields,    ///< KEY=VALUE..; over HTTP an object
    kSettings,  ///< KEY=VALUE..; over HTTP the body itself
  };
  const char* word = "";  ///< "NODE"; "[WHERE]" may be left out; "--for T"; "--force"
  const char* member = "";
  const char* help = "";
  Kind kind = Kind::kText;
};

/// Something a storm does, by one of these lines: commands with placeholders (see Storm).
struct StormKind {
  const char* name = "";
  std::vector<const char*> lines = {};
};

/// Executes a verb. Returns the answer to POST /sim/VERB.
using Act = base::Result<Json> (*)(Targets& targets, const Json& body, TimePoint now);

/// Something that can be done to the cloud and its hosts from outside.
struct Verb {
  const char* name = "";
  const char* help = "";
  std::vector<Argument> arguments = {};
  Act act = nullptr;
  std::vector<StormKind> storm = {};
};

/// All verbs. The command line, POST /sim/VERB, scripts, storms and the list in
/// docs/guide/simulator.md come from this table.
const std::vector<Verb>& Verbs();
/// The verb of this name; the error names the nearest one.
base::Result<const Verb*> FindVerb(const std::string& name);
/// "stockout [WHERE] [--for T]"
std::string Usage(const Verb& verb);
/// The members that the body over HTTP may have. Empty for settings, which are checked separately.
std::vector<std::string> Members(const Verb& verb);

}  // namespace jobman::sim
