// What a command may write to stderr around the report of its process group, which is signalled.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "jobman/base/strings.hpp"
#include "jobman/ssh/command_group.hpp"
#include "tests/fuzz/expect.hpp"

using namespace jobman;

namespace {

/// What is left of the text, given in pieces, and the group in it.
std::pair<std::string, ssh::CommandGroup> Taken(std::string_view text, std::size_t piece) {
  std::string rest;
  ssh::GroupReport report([&rest](std::string_view bytes) {
    rest += bytes;
    return base::Ok();
  });
  for (std::size_t at = 0; at < text.size(); at += piece)
    fuzz::Expect(report.Take(text.substr(at, piece)).ok(), "it fails only as the sink does");
  fuzz::Expect(report.Finish().ok(), "so does its end");
  return {rest, report.group()};
}

void ExpectUsable(const ssh::CommandGroup& group) {
  const auto leader = base::ParseNumber(group.leader);
  fuzz::Expect(leader && *leader > 1, "nobody signals everybody");
  fuzz::Expect(std::to_string(*leader) == group.leader, "kill reads the number that jobman reads");
  const std::string line = ssh::EndLine(group, "TERM", base::Duration{0});
  fuzz::Expect(line.ends_with(" sh " + group.leader + " " + group.born + " TERM 0"),
               "both are words of a shell");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::Text(data, size);
  const auto whole = Taken(text, std::max<std::size_t>(size, 1));
  fuzz::Expect(whole == Taken(text, 1) && whole == Taken(text, 7), "pieces do not matter");
  fuzz::Expect(whole.first.size() <= text.size(), "nothing is added");
  if (whole.second.known()) ExpectUsable(whole.second);
  if (!Taken(text + "\n", 5).second.known()) {
    const std::string line = "jobman: group 12 345\n";
    const ssh::CommandGroup ours{.leader = "12", .born = "345"};
    fuzz::Expect(Taken(text + "\n" + line, 5).second == ours, "a report is found after any noise");
  }
  const auto first = Taken("jobman: group 12 345\n" + text, 3);
  fuzz::Expect(first.first == text, "all that follows the report is the command's");
  return 0;
}
