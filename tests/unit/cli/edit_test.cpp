// jobman edit: nothing that the user typed is lost.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <optional>

#include "cli/edited_text.hpp"
#include "jobman/config/load.hpp"
#include "jobman/controller/controller.hpp"
#include "tests/support/cli_world.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A job on a node of its user, for which no cloud is asked.
constexpr const char* kStored =
    "job: {name: train}\n"
    "tpu: {existing: node, accelerator: v4-8, zone: us-central2-b, project: demo}\n"
    "command: {cmd: echo first}\n";

class Edits : public testing::Test {
 protected:
  Edits() {
    ::unsetenv("VISUAL");
    world_.fill = [this](MemoryStore& store) {
      const auto read = config::Load({.file = "job.yaml",
                                      .text = kStored,
                                      .defaults = config::SystemDefaults(world_.paths().home)});
      ASSERT_TRUE(read.loaded) << config::ToError(read.problems).message;
      core::Job job{.name = "train", .spec = read.loaded->spec, .state = core::Done{}};
      job.slice = slice_;
      ASSERT_TRUE(store.Create(job, kStored, {}).ok());
      ASSERT_TRUE(store.TakeLease(controller::LeaseHolder(), world_.clock.Now(), kLong).ok());
    };
  }
  ~Edits() override { ::unsetenv("EDITOR"); }

  /// Edits with an editor that does `steps`, lines of a shell about "$1", one each time.
  CliWorld::Ended Edit(const std::vector<std::string>& steps) {
    std::string script = "round=$(ls " + Seen("*") + " 2>/dev/null | wc -l)\ncp \"$1\" " +
                         Seen("$round") + "\ncase $round in\n";
    for (std::size_t i = 0; i < steps.size(); ++i) script += fmt::format("{}) {};;\n", i, steps[i]);
    const base::Path editor = world_.paths().home / "editor.sh";
    EXPECT_TRUE(base::WriteFileAtomic(editor, script + "esac\n").ok());
    ::setenv("EDITOR", ("sh " + editor.string()).c_str(), 1);
    return world_.Run({"edit", "train"});
  }
  std::string Seen(const std::string& round) const {
    return (world_.paths().home / ("seen." + round)).string();
  }
  /// What the editor was shown.
  std::string Shown(int round) { return base::ReadFile(Seen(std::to_string(round))).value_or(""); }
  base::Path File() const { return world_.paths().home / "edit-000001.yaml"; }
  std::string Kept() { return base::ReadFile(File()).value_or(""); }

  static constexpr base::Duration kLong = std::chrono::hours{1};
  std::optional<core::Slice> slice_ = {};
  static constexpr const char* kMisspell = "sed -i s/command/comand/ \"$1\"";
  static constexpr const char* kCorrect = "sed -i 's/^comand/command/;s/first/second/' \"$1\"";
  CliWorld world_;
};

TEST_F(Edits, WhatIsWrongIsShownInTheEditorUntilItIsCorrected) {
  world_.around.err_tty = true;
  const auto ended = Edit({kMisspell, kCorrect});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(Shown(0), kStored);
  EXPECT_THAT(Shown(1), AllOf(StartsWith("#jobman: This was not taken over:\n#jobman: job-000001"),
                              HasSubstr("unknown key \"comand\""), HasSubstr("\njob: {name: tr")));
  EXPECT_THAT(ended.err, HasSubstr("job 000001 uses it from its next attempt on"));
  EXPECT_FALSE(base::FileSize(File()));
}

TEST_F(Edits, ATextThatIsLeftAsItIsEndsThemAndIsKept) {
  world_.around.err_tty = true;
  const auto ended = Edit({kMisspell});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_NE(Shown(1), "");
  EXPECT_EQ(Shown(2), "");
  EXPECT_THAT(ended.err, AllOf(HasSubstr("unknown key \"comand\""),
                               HasSubstr("your text is kept in " + File().string())));
  EXPECT_THAT(Kept(), AllOf(HasSubstr("comand: {cmd: echo first}"), Not(HasSubstr("#jobman"))));
}

TEST_F(Edits, WithoutATerminalAreNotRepeated) {
  const auto ended = Edit({kMisspell, kCorrect});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(Shown(1), "");
  EXPECT_THAT(ended.err, HasSubstr("jobman edit 000001 goes on with it"));
}

TEST_F(Edits, ASecondOneBeginsWithTheTextThatWasKept) {
  Edit({kMisspell});
  const std::string kept = Kept();
  const auto looked = Edit({});
  EXPECT_EQ(looked.exit_code, 0);
  EXPECT_THAT(looked.err,
              AllOf(HasSubstr("going on with your text of an earlier edit"),
                    HasSubstr("nothing was changed\n"),
                    HasSubstr("; to correct it: jobman edit 000001\n"), Not(HasSubstr(" -f "))));
  EXPECT_THAT(Shown(1), AllOf(StartsWith("#jobman: Your text of an earlier edit"),
                              HasSubstr("unknown key \"comand\""), HasSubstr("\n" + kept)));
  EXPECT_EQ(Kept(), kept);
  const auto corrected = Edit({"", "", kCorrect});
  EXPECT_EQ(corrected.exit_code, 0) << corrected.err;
  EXPECT_THAT(corrected.err, HasSubstr("uses it from its next attempt on"));
  EXPECT_FALSE(base::FileSize(File()));
}

TEST_F(Edits, AKeptTextWithoutAMistakeCanBeTakenOverAsItIs) {
  Edit({"sed -i s/first/second/ \"$1\"; exit 1"});
  EXPECT_THAT(Edit({}).err, HasSubstr("still in " + File().string() +
                                      "; to take it over as it is: jobman resume 000001 -f " +
                                      File().string() + "\n"));
}

TEST_F(Edits, OneThatTheSliceCannotFollowIsToBeRequeuedWithTheKeptText) {
  slice_ = core::Slice{.ref = {.name = "node"}, .phase = core::SlicePhase::kCreated};
  const std::string requeue = "jobman requeue 000001 -f " + File().string();
  const auto refused = Edit({"sed -i s/v4-8/v4-16/ \"$1\""});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("cannot change in tpu.accelerator"),
                                 HasSubstr(requeue + " gives the slice up")));
  EXPECT_THAT(Edit({}).err, HasSubstr("to take it over as it is: " + requeue + "\n"));
}

TEST_F(Edits, AKeptTextIsDroppedByEmptyingIt) {
  Edit({kMisspell});
  EXPECT_THAT(Edit({"", ": >\"$1\""}).err,
              HasSubstr("\nyour text is dropped; nothing was changed\n"));
  EXPECT_FALSE(base::FileSize(File()));
  Edit({});
  EXPECT_EQ(Shown(2), kStored);
}

TEST_F(Edits, AnEditorThatFailsTakesNothingAway) {
  const auto failed = Edit({"exit 1"});
  EXPECT_EQ(failed.exit_code, 2);
  EXPECT_THAT(failed.err,
              AllOf(HasSubstr("failed; nothing was changed"), Not(HasSubstr("your text"))));
  EXPECT_FALSE(base::FileSize(File())) << "nothing was typed";
  const auto typed = Edit({"", "echo '# more' >>\"$1\"; exit 1"});
  EXPECT_THAT(typed.err, HasSubstr("your text is kept in"));
  EXPECT_EQ(Kept(), kStored + std::string("# more\n"));
  EXPECT_THAT(Edit({"", "", "rm \"$1\""}).err, HasSubstr("your text is kept in"));
  EXPECT_EQ(Kept(), kStored + std::string("# more\n"));
}

TEST_F(Edits, AnEditorThatNeverGetsItRightIsLeft) {
  world_.around.err_tty = true;
  ::setenv("EDITOR", "sh -c 'echo x: 1 >>\"$0\"'", 1);
  const auto ended = world_.Run({"edit", "train"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("your text is kept in"));
}

TEST(EditedText, ANoteIsAboveTheTextOnly) {
  EXPECT_EQ(cli::WithNote("one\n\ntwo", "a: 1\n"), "#jobman: one\n#jobman:\n#jobman: two\na: 1\n");
  EXPECT_EQ(cli::WithNote("", "a: 1\n"), "a: 1\n");
  EXPECT_EQ(cli::WithoutNote("#jobman: one\n# mine\n#jobman: mine\n"), "# mine\n#jobman: mine\n");
  EXPECT_EQ(cli::WithoutNote("#jobman: one"), "");
}

}  // namespace
}  // namespace jobman::test
