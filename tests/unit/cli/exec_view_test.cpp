#include <gtest/gtest.h>

#include "cli/views/exec_result.hpp"
#include "cli/views/exec_runs.hpp"

namespace jobman::cli::views {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

TEST(ExecView, TheErrorOfAHostGoesOnBelowItself) {
  ExecResult view{.rows = {{.host = 0, .exit_code = 0, .took = 200ms}, {.host = 1, .took = 20s}}};
  EXPECT_EQ(RenderText({.rows = {view.rows[0]}}, {.width = 60}),
            "HOST  EXIT CODE  TIME\n0     0          0.2s\n");
  view.rows[1].error = "10.0.0.2:22: no answer to the login within 20s: the host hangs";
  EXPECT_EQ(RenderText(view, {.width = 60}),
            "HOST  EXIT CODE  TIME  ERROR\n"
            "0     0          0.2s\n"
            "1     -          20s   10.0.0.2:22: no answer to the login\n"
            "                       within 20s: the host hangs\n");
}

ExecResult::Row Exited(int host, int code) {
  return {
      .host = host, .exit_code = code, .brief = "exit code " + std::to_string(code), .took = 200ms};
}
ExecResult::Row TimedOut(int host) {
  return {.host = host,
          .error = "timeout: it took long",
          .brief = "timeout",
          .timed_out = true,
          .took = 5s};
}
ExecResult::Row Unreached(int host) {
  return {.host = host,
          .error = "10.0.0." + std::to_string(host) + ":22: connection refused",
          .brief = "connection refused",
          .took = 1s};
}
ui::HostText Text(const std::string& text) {
  ui::HostText kept;
  kept.facts.Add(text);
  kept.read = [text](const ui::TakePiece& take) { return take(text); };
  return kept;
}

TEST(ExecView, HostsThatEndedAlikeShareARow) {
  const ExecResult view{
      .rows = {Exited(0, 0), Unreached(1), TimedOut(2), Unreached(3), Exited(4, 3)}};
  EXPECT_EQ(RenderText(view, {.width = 200}),
            "HOST  EXIT CODE  TIME  ERROR\n"
            "0     0          0.2s\n"
            "1,3   -          1s    connection refused (host 1: 10.0.0.1:22)\n"
            "2     timeout    5s\n"
            "4     3          0.2s\n");
}

TEST(ExecView, ADetachedRunHasNoTimes) {
  ExecResult view{.rows = {Exited(0, 0), Exited(1, 0)}};
  for (ExecResult::Row& row : view.rows) row.took.reset();
  EXPECT_EQ(RenderText(view, {.width = 200}), "HOST  EXIT CODE\n0-1   0\n");
  LargeJson texts;
  EXPECT_TRUE(ToJson(view, texts)["hosts"][0]["seconds"].is_null());
}

TEST(ExecView, ARunMayHaveBegunWhereTheAnswerIsLost) {
  const base::Error lost{.message = "h1: the connection broke"};
  ExecRunBegun view{.job = {.value = 4}, .name = "eval", .job_hosts = 4};
  view.result.hosts = {{.host = 0, .result = lost},
                       {.host = 1, .result = lost, .begun = true},
                       {.host = 2, .result = lost, .begun = true}};
  EXPECT_EQ(RenderText(view, {}),
            "run eval may have begun on hosts 1-2; to see whether it has: jobman exec 000004 "
            "--runs\n");
  EXPECT_EQ(RenderQuiet(view), "eval\n");
  EXPECT_EQ(ToJson(view)["hosts"][0]["begun"], false);
  EXPECT_TRUE(ToJson(view)["hosts"][1]["begun"].is_null());
  view.result.hosts[0].result = 0;
  EXPECT_EQ(RenderText(view, {}).find("run eval has begun on 1 host; "), 0U);
  view.result.hosts = {{.host = 0, .result = lost}};
  EXPECT_EQ(RenderText(view, {}), "run eval has begun on no host\n");
  EXPECT_EQ(RenderQuiet(view), "");
}

TEST(ExecView, ATimeoutThatLeftACommandRunningSaysSo) {
  ExecResult view{.rows = {TimedOut(0), TimedOut(1), TimedOut(2)}};
  view.rows[1].may_go_on = view.rows[2].may_go_on = true;
  EXPECT_EQ(RenderText(view, {.width = 200}),
            "HOST  EXIT CODE  TIME  ERROR\n"
            "0     timeout    5s\n"
            "1-2   timeout    5s    timeout: it took long\n");
}

TEST(ExecView, HostsWithOddOutputHaveRowsOfTheirOwn) {
  ExecResult view{.rows = {Exited(0, 0), Exited(1, 0), Exited(2, 0), Exited(3, 1)}};
  view.rows[1].odd = view.rows[2].odd = "binary data";
  view.rows[3].odd = "No space left on device";
  const std::string table =
      "HOST  EXIT CODE  TIME  OUTPUT\n"
      "0     0          0.2s\n"
      "1-2   0          0.2s  binary data\n"
      "3     1          0.2s  No space left on device\n";
  EXPECT_EQ(RenderText(view, {.width = 80}), table);
  view.rows.push_back(Unreached(4));
  EXPECT_EQ(RenderText(view, {.width = 80}),
            "HOST  EXIT CODE  TIME  OUTPUT                   ERROR\n"
            "0     0          0.2s\n"
            "1-2   0          0.2s  binary data\n"
            "3     1          0.2s  No space left on device\n"
            "4     -          1s                             10.0.0.4:22: connection refused\n");
}

TEST(ExecView, ARowOfAThousandHostsIsALine) {
  ExecResult view;
  for (int host = 0; host < 1024; ++host) view.rows.push_back(Exited(host, host % 2));
  for (const int width : {80, 200}) {
    EXPECT_EQ(RenderText(view, {.width = width}),
              "HOST                             EXIT CODE  TIME\n"
              "0,2,4,6,8,10,12,14,16,... (512)  0          0.2s\n"
              "1,3,5,7,9,11,13,15,17,... (512)  1          0.2s\n");
  }
}

TEST(ExecView, ShortOutputsThatDifferAreOneLine) {
  ExecResult view;
  for (int host = 0; host < 1024; ++host) {
    view.rows.push_back(host == 417 ? TimedOut(host) : Exited(host, 0));
    if (host != 417) view.output[host] = Text("meow\n");
  }
  EXPECT_EQ(InShort(view).value(), "1023 hosts: meow; host 417: timeout");
  view.rows[5] = Exited(5, 3);
  view.rows[6] = Exited(6, 2);
  view.output.erase(6);
  EXPECT_EQ(InShort(view).value(),
            "1021 hosts: meow; host 5: meow (exit code 3); host 6: exit code 2; host 417: timeout");
  view.output[7] = Text("two\nlines\n");
  EXPECT_EQ(InShort(view).value(), "") << "it would not be short";
}

TEST(ExecView, NothingIsSaidInShortWhereNothingDiffers) {
  ExecResult view{.rows = {Exited(0, 0), Exited(1, 0)}};
  EXPECT_EQ(InShort(view).value(), "") << "not kept";
  view.output = {{0, Text("meow")}, {1, Text("meow")}};
  EXPECT_EQ(InShort(view).value(), "");
  view.output[1] = Text("m\x1b[31mew\n");
  EXPECT_EQ(InShort(view).value(), "host 0: meow; host 1: m?[31mew") << "no control characters";
  view.rows.clear();
  for (int host = 0; host < 20; ++host) {
    view.rows.push_back(Exited(host, 0));
    view.output[host] = Text(std::to_string(host));
  }
  EXPECT_EQ(InShort(view).value(), "");
}

TEST(ExecView, JsonHasTheTimeout) {
  const ExecResult view{.rows = {TimedOut(0)}, .summary = "0/1 ok", .exit_code = 124};
  LargeJson texts;
  const auto json = ToJson(view, texts);
  EXPECT_EQ(json["hosts"][0]["odd_output"], nullptr);
  EXPECT_EQ(json["hosts"][0]["timeout"], true);
  EXPECT_EQ(json["hosts"][0]["error"], "timeout: it took long");
  EXPECT_EQ(json["exit_code"], 124);
}

}  // namespace
}  // namespace jobman::cli::views
