// Completion of the simulator's command lines: the words that a shell gets after a Tab.
#include "sim/command/completion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>

#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"
#include "sim/command/verb_words.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SimCompletion : public testing::Test {
 protected:
  SimCompletion() {
    app_.add_option("--dir", text_, "Folder")->type_name("DIR");
    CLI::App* storm = app_.add_subcommand("storm", "Random faults");
    storm->add_option("--only", texts_, "Kinds")->type_name("KIND,...")->delimiter(',');
    app_.add_subcommand("serve-hosts", "")->group("");
    AddVerbs(app_, orders_);
  }
  std::string Lines(const std::vector<std::string>& words) {
    return Complete(app_, words, [this](const std::string& dir) {
      dirs_.push_back(dir);
      return status_;
    });
  }
  std::vector<std::string> Answer(const std::vector<std::string>& words) {
    std::vector<std::string> offered;
    for (const std::string& line : base::Split(Lines(words), '\n'))
      if (!line.empty()) offered.push_back(line.substr(0, line.find('\t')));
    return offered;
  }

  std::string text_ = {};
  std::vector<std::string> texts_ = {};
  std::vector<Order> orders_ = {};
  CLI::App app_{"", "jobman-sim"};
  Json status_ = Json();
  std::vector<std::string> dirs_ = {};  ///< of the simulators that were looked at
};

TEST_F(SimCompletion, CommandsAndOptions) {
  EXPECT_THAT(Answer({"st"}), ElementsAre("storm", "stop", "start", "stockout"));
  EXPECT_THAT(Answer({"serve"}), IsEmpty()) << "hidden";
  EXPECT_THAT(Answer({"preempt", "--f"}), ElementsAre("--for", "--force"));
  EXPECT_THAT(Answer({"preempt", "--d"}), ElementsAre("--dir")) << "a global one";
  EXPECT_THAT(Answer({"--dir", "/d", "rebo"}), ElementsAre("reboot"));
  EXPECT_THAT(Lines({"calm", "--h"}), HasSubstr("--help\t"));
  EXPECT_EQ(Lines({"--dir", "/t"}), ":files\n");
  EXPECT_EQ(Lines({"--dir=/t"}), ":files\t--dir=\n");
  EXPECT_THAT(dirs_, IsEmpty()) << "no simulator is asked for these";
}

TEST_F(SimCompletion, WhatVerbsTake) {
  EXPECT_THAT(Answer({"preempt", "t1", "--as", "s"}), ElementsAre("stopping", "silent"));
  EXPECT_THAT(Answer({"preempt", "--as=go"}), ElementsAre("--as=gone"));
  EXPECT_THAT(Answer({"preempt", "--for", ""}), IsEmpty());
  EXPECT_THAT(Answer({"host", "t1/0", "h"}),
              ElementsAre("hang", "hangup", "hang-handshake", "hang-after-auth"));
  EXPECT_THAT(Answer({"host", "--for", "2s", "t1/0", "h"}),
              ElementsAre("hang", "hangup", "hang-handshake", "hang-after-auth"));
  EXPECT_THAT(Answer({"fault", "nodes.cr"}), ElementsAre("nodes.create"));
  EXPECT_THAT(Answer({"fault", "nodes.create", "list_e"}), ElementsAre("list_empty"));
  EXPECT_THAT(Answer({"storm", "--only", "cut,ha"}), ElementsAre("cut,hang", "cut,hangup"));
  EXPECT_THAT(Answer({"set", "delays.ac"}), ElementsAre("delays.accept="));
  EXPECT_THAT(Answer({"set", "qu"}), ElementsAre("quota."));
  EXPECT_THAT(Answer({"set", "stock.us-central2"}), ElementsAre("stock.us-central2-b/"));
  EXPECT_THAT(Answer({"set", "requests_per_minute.nodes/cr"}),
              ElementsAre("requests_per_minute.nodes/create="));
  EXPECT_THAT(Answer({"set", "delays=0", "loose=t"}), ElementsAre("loose=true"));
  EXPECT_THAT(Answer({"show", "t1", ""}), IsEmpty());
}

TEST_F(SimCompletion, NamesOfTheRunningSimulator) {
  status_ = Json::parse(R"({
      "nodes": [{"id": "t1", "state": "READY", "hosts": [{"running": true}, {"running": false}]}],
      "queued_resources": [{"id": "q1"}]})");
  EXPECT_THAT(Answer({"reboot", ""}), ElementsAre("t1"));
  EXPECT_THAT(Answer({"reboot", "t1", ""}), IsEmpty()) << "it takes one";
  EXPECT_THAT(Answer({"preempt", ""}), ElementsAre("t1", "q1"));
  EXPECT_THAT(Answer({"fail", ""}), ElementsAre("q1"));
  EXPECT_THAT(Answer({"host", "t"}), ElementsAre("t1/0", "t1/1", "t1/*"));
  dirs_.clear();
  Answer({"--dir", "/a", "reboot", ""});
  Answer({"reboot", "--dir=/b", ""});
  EXPECT_THAT(dirs_, ElementsAre("/a", "/b"));
  status_ = Json();
  EXPECT_THAT(Answer({"host", ""}), IsEmpty()) << "none answers";
}

TEST_F(SimCompletion, TheScriptsAreForTheSimulator) {
  EXPECT_THAT(CompletionScript("zsh"), HasSubstr("compdef _jobman-sim jobman-sim\n"));
  EXPECT_THAT(CompletionScript("fish"), HasSubstr("complete -c jobman-sim "));
  const std::string bash = CompletionScript("bash");
  EXPECT_THAT(bash, HasSubstr("\ncomplete -F _jobman_sim jobman-sim\n"));
  const test::TempDir dir;
  ASSERT_TRUE(base::WriteFileAtomic(dir.path() / "script", bash).ok());
  EXPECT_EQ(::system(("bash -n " + (dir.path() / "script").string()).c_str()), 0);
}

}  // namespace
}  // namespace jobman::sim
