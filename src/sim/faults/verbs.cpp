#include "sim/faults/verbs.hpp"

#include "jobman/base/strings.hpp"
#include "sim/faults/acts.hpp"

namespace jobman::sim {

namespace {

constexpr Argument kNode = {"NODE", "node", "Its full name or id; an id with * and ? for several"};
constexpr Argument kName = {"NAME", "node",
                            "A node or queued resource, by full name or id; * and ? for nodes"};

Argument For(const char* help) {
  return {"--for T", "for", help};
}

}  // namespace

const std::vector<Verb>& Verbs() {
  static const std::vector<Verb> kVerbs = {
      {.name = "preempt",
       .help = "Preempt spot nodes, or all nodes of a queued resource, which ends SUSPENDED",
       .arguments = {kName,
                     {"--as WAY", "as",
                      "preempted (the default); stopping or repairing, shown before PREEMPTED; "
                      "silent: connections hang instead of closing; gone: no node remains"},
                     For("How long stopping, repairing or the silence lasts (2s)"),
                     {"--notice T", "notice", "How long before it the hosts read preempted=TRUE"},
                     {"--force", "force", "On-demand nodes too", Argument::Kind::kFlag}},
       .act = acts::Preempt,
       .storm = {{"preempt",
                  {"preempt SPOT", "preempt SPOT", "preempt SPOT --as stopping --for 1s",
                   "preempt SPOT --as repairing --for 1s", "preempt SPOT --as silent --for 1s",
                   "preempt SPOT --as gone", "preempt SPOT --notice 1s"}}}},
      {.name = "maintain",
       .help = "READY but UNHEALTHY_MAINTENANCE without hosts, then new external addresses",
       .arguments = {kNode,
                     {"--notice T", "notice",
                      "How long before it the node and the hosts announce it"},
                     For("How long it lasts (5s)")},
       .act = acts::Maintain,
       .storm = {{"maintain", {"maintain NODE --notice 1s --for 0.5..3s"}}}},
      {.name = "repair",
       .help = "REPAIRING without hosts, then the same hosts again",
       .arguments = {kNode, For("How long it lasts (5s)")},
       .act = acts::Repair,
       .storm = {{"repair", {"repair NODE --for 0.5..3s"}}}},
      {.name = "reboot",
       .help = "Restart all hosts: homes stay, /tmp and processes do not",
       .arguments = {kNode},
       .act = acts::Reboot,
       .storm = {{"reboot", {"reboot NODE"}}}},
      {.name = "terminate",
       .help = "End a node as TERMINATED",
       .arguments = {kNode},
       .act = acts::Terminate},
      {.name = "stop",
       .help = "STOPPING, then STOPPED, even if the API refuses it",
       .arguments = {kNode},
       .act = acts::Stop,
       .storm = {{"stop", {"stop NODE", "terminate NODE"}}}},
      {.name = "start",
       .help = "Start a STOPPED node, even if the API refuses it",
       .arguments = {kNode},
       .act = acts::Start},
      {.name = "delete",
       .help = "Delete a node or queued resource, as somebody else would",
       .arguments = {kName},
       .act = acts::Delete,
       .storm = {{"delete", {"delete NODE"}}}},
      {.name = "fail",
       .help = "End a queued resource as FAILED",
       .arguments = {{"NAME", "queuedResource", "Its full name or id"},
                     {"--code N", "code", "Of google.rpc.Code (13)", Argument::Kind::kNumber},
                     {"--message M", "message", "Of the error"},
                     {"--expired", "expired", "Because its valid-until time has passed (code 4)",
                      Argument::Kind::kFlag}},
       .act = acts::Fail},
      {.name = "show",
       .help = "Make the API show other values for fields of a node",
       .arguments = {kNode,
                     {"KEY=VALUE...", "set",
                      "Such as state=REPAIRING or health=UNHEALTHY_MAINTENANCE; KEY=null shows the "
                      "real value again",
                      Argument::Kind::kFields}},
       .act = acts::Show},
      {.name = "host",
       .help = "Make hosts fail; the API shows nothing of it",
       .arguments =
           {{"NODE/INDEX", "host",
             "INDEX is a number from 0, several such as 0-9,100, * for all, or a share such as 1% "
             "of "
             "the hosts, of those that run and have no fault",
             Argument::Kind::kHost},
            {"ACTION", "action",
             "kill: off, connections are refused; boot: on again, with its disk; cut: packets are "
             "lost, connections hang; hang: logins work, but commands do not begin; trickle: "
             "nor here, but they print lines for ever; mend: without fault again; "
             "hangup: SSH connections end, new ones work. Processes keep "
             "running, except after kill. Without a sandbox also slow, refuse, reset, "
             "hang-handshake, hang-after-auth, reset-middle, wrong-key and full, see below"},
            For("All but boot, mend and hangup: how long"),
            {"--by T", "by", "slow: how late each packet is, in each direction (200ms)"},
            {"--seed N", "seed", "Determines which hosts a share means (0)",
             Argument::Kind::kNumber}},
       .act = acts::Host,
       .storm = {{"kill", {"host HOST kill --for 1..5s"}},
                 {"cut", {"host HOST cut --for 1..5s"}},
                 {"hang", {"host HOST hang --for 1..5s"}},
                 {"hangup", {"host HOST hangup"}}}},
      {.name = "fault",
       .help = "Make the next calls of an API method fail",
       .arguments = {{"METHOD", "method", "Such as nodes.create, queuedResources.* or *"},
                     {"ERROR", "error", "Such as unavailable, stockout or drop_reply"},
                     {"--times N", "times", "How many calls (1)", Argument::Kind::kNumber},
                     {"--retry-after S", "retry_after", "Seconds in a Retry-After header"}},
       .act = acts::Fault,
       .storm = {{"drop_reply", {"fault METHOD drop_reply --times 1..2"}},
                 {"drop_request", {"fault METHOD drop_request --times 1..2"}},
                 {"error",
                  {"fault METHOD internal --times 1..4", "fault METHOD unavailable --times 1..4"}},
                 {"rate_limit", {"fault METHOD rate_limit --times 1..4 --retry-after 1"}}}},
      {.name = "stockout",
       .help = "No capacity: direct creates end with code 8, queued resources wait",
       .arguments = {{"[WHERE]", "where", "ZONE/TYPE or ZONE/FAMILY, with * and ? (everywhere)"},
                     For("How long (30s)")},
       .act = acts::Stockout,
       .storm = {{"stockout",
                  {"stockout --for 0.5..4s", "stockout --for 0.5..4s", "stockout --for 0.5..4s",
                   "stockout --for 0.5..4s", "fault *.create stockout", "fault *.create stockout",
                   "fault *.create gives_up"}}}},
      {.name = "unplug",
       .help = "The API refuses connections and closes open ones; hosts keep running",
       .arguments = {For("How long (10s)")},
       .act = acts::Unplug,
       .storm = {{"unplug", {"unplug --for 0.2..2s"}}}},
      {.name = "set",
       .help = "Change settings",
       .arguments = {{"KEY=VALUE...", "settings", "Such as stock.us-central2-b/v4=16",
                      Argument::Kind::kSettings}},
       .act = acts::Set},
      {.name = "calm",
       .help =
           "End all faults, also those to come: of calls, stockouts, notices, stalled requests, "
           "killed, cut, hung and other failing hosts, the rest of scripts",
       .act = acts::Calm},
  };
  return kVerbs;
}

base::Result<const Verb*> FindVerb(const std::string& name) {
  std::vector<std::string> known;
  for (const Verb& verb : Verbs()) {
    if (name == verb.name) return &verb;
    known.push_back(verb.name);
  }
  const auto near = base::Nearest(name, known);
  return base::InvalidArgument(
      "there is no command \"" + name + "\"",
      near ? "did you mean " + *near + "?" : "known: " + base::Join(known, ", "));
}

std::string Usage(const Verb& verb) {
  std::string usage = verb.name;
  for (const Argument& argument : verb.arguments) {
    const std::string word = argument.word;
    usage += word.starts_with("--") ? " [" + word + "]" : " " + word;
  }
  return usage;
}

std::vector<std::string> Members(const Verb& verb) {
  std::vector<std::string> members;
  for (const Argument& argument : verb.arguments) {
    if (argument.kind == Argument::Kind::kSettings) return {};
    if (argument.kind == Argument::Kind::kHost) {
      members.insert(members.end(), {"node", "index"});
    } else {
      members.push_back(argument.member);
    }
  }
  return members;
}

}  // namespace jobman::sim
