// jobman top: the table, and the command over hosts that are folders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/views/top.hpp"
#include "jobman/base/strings.hpp"
#include "tests/support/cli_world.hpp"
#include "tests/support/job_builder.hpp"
#include "tests/support/lend.hpp"
#include "tests/support/local_shell.hpp"
#include "tests/support/running_job.hpp"
#include "tests/support/top_hosts.hpp"

namespace jobman::test {
namespace {

using cli::views::Top;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> LinesOf(const Top& view, const ui::Style& style = {}) {
  auto lines = base::Split(RenderText(view, style), '\n');
  lines.pop_back();
  return lines;
}

Top PodOf(int hosts) {
  Top view{.job = {7}};
  for (int host = 0; host < hosts; ++host) view.hosts.push_back(BusyHost(host));
  return view;
}

TEST(TopView, NamesLostHostsFirstThenWhoStandsApart) {
  Top view = PodOf(5);
  view.hosts[3] = BusyHost(3, 12);
  view.hosts.push_back(LostHost(5));
  view.hosts.push_back(LostHost(6));
  view.hosts.push_back({.host = 8});
  view.hosts = InOrder(std::move(view.hosts));
  const auto lines = LinesOf(view);
  ASSERT_EQ(lines.size(), 9u);
  EXPECT_EQ(lines[0], "hosts 5-6: connection refused");
  EXPECT_EQ(lines[1], "waiting for host 8");
  EXPECT_THAT(lines[2], StartsWith("HOST  LOAD"));
  EXPECT_THAT(lines[3], AllOf(StartsWith("   3  12.3"), HasSubstr("12%"), HasSubstr("4/4")));
  EXPECT_THAT(lines[4], StartsWith("      duty cycle 12%, median 97%"));
  EXPECT_THAT(lines[5], AllOf(StartsWith("   0"), HasSubstr("4711 ann python train.py --lr 0.1")));
  EXPECT_EQ(RenderQuiet(view), "3\n5\n6\n");
}

TEST(TopView, AWindowShowsTheOddOnesAndSumsTheOthersUp) {
  Top view = PodOf(1024);
  view.hosts[700] = BusyHost(700, 3);
  view.hosts[2] = LostHost(2);
  view.hosts = InOrder(std::move(view.hosts));
  view.height = 24;
  const auto lines = LinesOf(view, {.width = 80});
  EXPECT_EQ(lines.size(), 24u);
  EXPECT_EQ(lines[0], "host 2: connection refused");
  EXPECT_THAT(lines[2], StartsWith(" 700"));
  EXPECT_THAT(lines[23], StartsWith("... and 1003 more hosts alike, load 12.0 to 12.9, CPU 5%,"));
  for (const std::string& line : lines) EXPECT_LE(ui::DisplayWidth(line), 80) << line;
}

TEST(TopView, SmallWindowsStillShowSomething) {
  Top view = PodOf(100);
  view.height = 1;
  EXPECT_EQ(LinesOf(view).size(), 3u) << "a header, a host, the others";
}

TEST(TopView, ManyCausesDoNotFillTheWindow) {
  Top view = PodOf(2);
  for (int host = 2; host < 60; ++host) {
    view.hosts.push_back(LostHost(host));
    view.hosts.back().trouble->reason = base::Reason::kNone;
  }
  view.height = 20;
  const auto lines = LinesOf(view);
  EXPECT_EQ(lines[4], "and 54 hosts for other reasons");
  view.height = 0;
  EXPECT_GE(LinesOf(view).size(), 58u) << "without a window each is named";
}

TEST(TopView, ColumnsOfWhatNoHostHasAreLeftOut) {
  Top view = PodOf(2);
  for (client::TopHost& host : view.hosts) {
    host.look->chips.clear();
    host.look->tpu_info = remote::HostLook::TpuInfo::kAbsent;
  }
  const auto lines = LinesOf(view);
  EXPECT_EQ(lines[0], "HOST  LOAD  PER CPU  CPU       MEMORY  DISK /  HOME");
  EXPECT_EQ(lines[1], "   0  12.0     0.05   5%  12.0/397 GB     21%   90%");
  EXPECT_EQ(lines.size(), 3u);
}

TEST(TopView, SaysWhatIsNotKnownAndWhy) {
  Top view = PodOf(3);
  view.hosts[0].look->sees_all = false;
  view.hosts[1].look->tpu_info = remote::HostLook::TpuInfo::kAbsent;
  view.hosts[2].look->tpu_info = remote::HostLook::TpuInfo::kSilent;
  const std::string text = RenderText(view, {});
  EXPECT_THAT(text, HasSubstr("chips that other users hold are not seen without sudo: host 0\n"));
  EXPECT_THAT(text, HasSubstr("no duty cycle: tpu-info is not on host 1\n"));
  EXPECT_THAT(text, HasSubstr("names no program that uses the TPU on host 2\n"));
}

TEST(TopView, ChipsOfSeveralHoldersAreTold) {
  Top view = PodOf(1);
  auto& chips = view.hosts[0].look->chips;
  chips[0].holders.clear();
  chips[3].holders = {{.pid = 9, .user = "bob", .command = ""}};
  EXPECT_THAT(RenderText(view, {}),
              HasSubstr("3/4  1,2: 4711 ann python train.py --lr 0.1; 3: 9 bob -\n"));
}

TEST(TopView, WideHasARowPerChip) {
  Top view = PodOf(1);
  view.wide = true;
  view.hosts[0].look->chips[1].holders.clear();
  const auto lines = LinesOf(view);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_THAT(lines[0], HasSubstr("CHIP         DUTY           HBM   PID  USER  COMMAND"));
  EXPECT_THAT(lines[1], HasSubstr("/dev/accel0   97%  18.0/31.0 GB  4711  ann   python train.py"));
  EXPECT_THAT(lines[2], testing::EndsWith("     -  -     -"));
}

TEST(TopView, HostileTextControlsNothing) {
  Top view = PodOf(1);
  view.hosts[0].look->chips[0].holders[0].command = "a\x1b[2J\nb";
  view.hosts.push_back({.host = 1, .trouble = base::Error{.message = "c\x1b]0;d\x07\ne"}});
  const std::string text = RenderText(view, {});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("host 1: c?]0;d? e\n"));
}

TEST(TopView, JsonHasNullForWhatIsNotKnown) {
  Top view = PodOf(1);
  view.hosts.push_back(LostHost(1));
  view.hosts.push_back({.host = 2, .look = remote::HostLook{}});
  const base::OrderedJson json = ToJson(view);
  EXPECT_EQ(json["job"], 7);
  EXPECT_EQ(json["hosts"][0]["memory"]["total"], 397LL << 30);
  EXPECT_EQ(json["hosts"][0]["chips"][2]["holders"][0]["pid"], 4711);
  EXPECT_EQ(json["hosts"][0]["error"], nullptr);
  EXPECT_THAT(json["hosts"][1]["error"].get<std::string>(),
              HasSubstr("10.0.0.1:22: connection refused"));
  EXPECT_FALSE(json["hosts"][1].contains("load"));
  EXPECT_EQ(json["hosts"][2]["load"], nullptr);
  EXPECT_EQ(json["hosts"][2]["cpus"], nullptr);
}

class TopCommand : public testing::Test {
 protected:
  TopCommand() {
    world_.open_cloud = Lend(cloud_);
    world_.open_shell = Lend(hosts_);
    world_.fill = [this](MemoryStore& store) { AddRunningJob(store, world_.clock.Now(), 2); };
  }
  CliWorld world_;
  FakeSliceApi cloud_{world_.clock};
  LocalShell hosts_{world_.paths().home / "hosts"};
};

TEST_F(TopCommand, ShowsARowForEachHost) {
  const auto ended = world_.Run({"top", "train"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("\n   0  "), HasSubstr("\n   1  ")));
  EXPECT_THAT(world_.Run({"top", "1", "-w", "1", "--json"}).out,
              AllOf(HasSubstr("\"host\": 1"), HasSubstr("\"cpu_percent\": ")));
  EXPECT_EQ(world_.Run({"top", "1", "-q"}).out, "") << "nothing is odd";
}

TEST_F(TopCommand, AHostThatCannotBeReachedCostsTheOthersNothing) {
  hosts_.Unplug("h1");
  const auto ended = world_.Run({"top", "train"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.out, AllOf(StartsWith("host 1: connection refused\n"), HasSubstr("\n   0  ")));
  EXPECT_EQ(world_.Run({"top", "train", "-w", "1"}).exit_code, 75);
  EXPECT_EQ(world_.Run({"top", "train", "-q"}).out, "1\n");
}

TEST_F(TopCommand, OptionsAreChecked) {
  EXPECT_THAT(world_.Run({"top", "1", "--sort", "age"}).err,
              HasSubstr("\"age\" is not one of stragglers, host, load"));
  EXPECT_EQ(world_.Run({"top", "1", "--watch", "--every", "0"}).exit_code, 2);
  const auto once = world_.Run({"top", "1", "--every", "2s"});
  EXPECT_EQ(once.exit_code, 2);
  EXPECT_THAT(once.err, HasSubstr("--every requires --watch"));
  const auto both = world_.Run({"top", "1", "--watch", "--patience", "1m"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.err, HasSubstr("--watch excludes --patience"));
  EXPECT_EQ(world_.Run({"top", "1", "-w", "7"}).exit_code, 3);
}

}  // namespace
}  // namespace jobman::test
