// The parts of `sync` that only calculate: answers of hosts, what differs, and the archive.
#include <gmock/gmock.h>

#include <filesystem>

#include "client/sync_delivery.hpp"
#include "client/sync_plan.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/remote/sync_script.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Kind = SyncEntry::Kind;

const std::string kHashA(64, 'a');
const std::string kHashB(64, 'b');

std::string Said(const std::vector<std::string>& parts) {
  std::string answer(remote::kSyncGreeting);
  for (const std::string& part : parts) answer += part + '\0';
  return answer;
}

SyncEntry File(const std::string& sha256, std::int64_t size = 3, std::int64_t mtime = 7) {
  return {.kind = Kind::kFile, .mode = 0644, .size = size, .mtime = mtime, .sha256 = sha256};
}
SyncEntry Folder(unsigned mode = 0755) {
  return {.kind = Kind::kFolder, .mode = mode};
}
SyncEntry Link(const std::string& target) {
  return {.kind = Kind::kLink, .target = target};
}

/// A host that has these, and a record of them.
SyncState HostWith(const SyncEntries& entries) {
  SyncState host;
  host.digest = base::Sha256Hex(SyncListText(SyncRecords(entries)));
  host.listed = std::make_shared<SyncEntries>(entries);
  return host;
}

TEST(SyncAnswers, TellWhatIsThere) {
  const auto look = ParseSyncLook(
      "Welcome!\n" + Said({"differs " + kHashA, "f 644 3 7.25 11 8.5 ./gone", "d 2755 ./d",
                           "\tf 600 3 9.0000000000 12 8.5 ./a b\nc", "\tl ./l//../x", "end"}));
  ASSERT_TRUE(look.ok()) << look.error().ToString();
  EXPECT_EQ(look->kind, SyncLook::Kind::kDiffers);
  EXPECT_EQ(look->digest, kHashA);
  EXPECT_THAT(look->gone, ElementsAre("gone", "d"));
  ASSERT_EQ(look->found.size(), 2U);
  EXPECT_EQ(look->found.at("a b\nc"), (SyncEntry{.mode = 0600, .size = 3, .mtime = 9}));
  EXPECT_EQ(look->found.at("l"), Link("../x"));
  EXPECT_EQ(ParseSyncLook(Said({"none", "end"}))->kind, SyncLook::Kind::kNone);
  EXPECT_EQ(ParseSyncLook(Said({"unknown", "o ./fifo", "end"}))->found.at("fifo").kind,
            Kind::kOther);
}

TEST(SyncAnswers, OfLiarsAreRefused) {
  for (const std::string record :
       {"\tf 644 3 7 11 8 ../x", "\tf 644 3 7 11 8 ./a/../../x", "\tf 644 3 7 11 8 /etc/passwd",
        "\td 755 ./", "\td 755 ./a//b", "\tf 999 3 7 11 8 ./a", "\tf 644 x 7 11 8 ./a", "\tf",
        "\tl ./a", "\tz ./a", "", "\td 755 ./."}) {
    EXPECT_FALSE(ParseSyncLook(Said({"differs " + kHashA, record, "end"})).ok()) << record;
  }
  const std::string longest = "\td 755 ./" + std::string(kLongestSyncName + 1, 'x');
  EXPECT_FALSE(ParseSyncLook(Said({"unknown", longest, "end"})).ok());
  EXPECT_FALSE(ParseSyncLook(Said({"same " + kHashA, "d 755 ./a", "end"})).ok());
  EXPECT_FALSE(ParseSyncLook(Said({"same ../../x", "end"})).ok());
  EXPECT_THAT(ParseSyncLook(Said({"unknown", "d 755 ./a"})).error().message,
              HasSubstr("breaks off"));
  EXPECT_FALSE(ParseSyncLook("command not found\n").ok());
  EXPECT_FALSE(ParseSyncHashes(Said({kHashA + "  ../x", "end"})).ok());
  EXPECT_FALSE(ParseSyncHashes(Said({"short  ./x", "end"})).ok());
}

TEST(SyncAnswers, AListIsTheOneThatItsDigestNames) {
  const SyncEntries entries = {
      {"a", File(kHashA)}, {"d", Folder()}, {"d/l", Link("x y\n")}, {"d/\n ", File(kHashB)}};
  const std::string text = SyncListText(SyncRecords(entries));
  const auto read = ParseSyncList(std::string(remote::kSyncGreeting) + text, base::Sha256Hex(text));
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ(*read, entries);
  EXPECT_FALSE(ParseSyncList(std::string(remote::kSyncGreeting) + text, kHashA).ok());
}

TEST(SyncDifference, OnlyWhatDiffersIsSent) {
  const SyncEntries here = {
      {"d", Folder()},          {"d/changed", File(kHashB)},       {"d/new", File(kHashA)},
      {"d/same", File(kHashA)}, {"d/touched", File(kHashA, 3, 8)}, {"empty", Folder(0555)},
      {"l", Link("other")}};
  const SyncState host = HostWith({{"d", Folder()},
                                   {"d/changed", File(kHashA)},
                                   {"d/same", File(kHashA)},
                                   {"d/touched", File(kHashA)},
                                   {"l", Link("one")},
                                   {"old", File(kHashA)}});
  const SyncDifference all = CompareSync(here, host, {});
  EXPECT_THAT(all.send, ElementsAre("d/changed", "d/new", "empty", "l"));
  EXPECT_THAT(all.change, ElementsAre("d/touched"));
  EXPECT_THAT(all.times.at(8), ElementsAre("d/touched"));
  EXPECT_THAT(all.modes.at(0555), ElementsAre("empty"));
  EXPECT_THAT(all.remove, IsEmpty()) << "nobody asked for it";
  EXPECT_TRUE(CompareSync(here, HostWith(here), {}).IsNothing());
  EXPECT_TRUE(CompareSync(here, HostWith(here), {}).recorded);
}

TEST(SyncDifference, AFileIsEqualByItsHashAlone) {
  const SyncEntries here = {{"a", File(kHashA)}, {"b", File(kHashA)}, {"c", File(kHashA, 4)}};
  SyncState host;
  for (const char* name : {"a", "b", "c"}) host.found[name] = File("");
  EXPECT_THAT(UnsureNames(here, host), ElementsAre("a", "b")) << "c has another size";
  host.found["a"].sha256 = kHashA;
  const SyncDifference all = CompareSync(here, host, {});
  EXPECT_THAT(all.send, ElementsAre("b", "c"));
  EXPECT_THAT(all.keep, ElementsAre(SyncRecord("a", here.at("a"))));
  EXPECT_FALSE(all.recorded);
}

TEST(SyncDifference, WhatIsBehindALinkIsNotThere) {
  const SyncEntries here = {{"d", Folder()}, {"d/a", File(kHashA)}};
  SyncState host = HostWith(here);
  host.gone = {"d"};
  host.found["d"] = Link("/elsewhere");
  const SyncDifference all = CompareSync(here, host, {});
  EXPECT_THAT(all.send, ElementsAre("d", "d/a"));
}

TEST(SyncDifference, RemovesWhatIsNotKeptAndFoldersLast) {
  const SyncEntries here = {{"a", File(kHashA)}, {"was_folder", File(kHashA)}};
  SyncState host = HostWith(here);
  host.gone = {"was_folder"};
  host.found = {
      {"was_folder", Folder()},    {"was_folder/x", File("")}, {"old", Folder()},
      {"old/deep", Folder()},      {"old/deep/y", File("")},   {"kept", Folder()},
      {"kept/z.log", File("")},    {"repo", Folder()},         {"repo/.git", Folder()},
      {"repo/.git/x", File("")},   {"repo/b", File("")},       {"pipe", {.kind = Kind::kOther}},
      {".jobman-sync/x", File("")}};
  const SyncDifference all =
      CompareSync(here, host, [](const std::string& name) { return name != "kept/z.log"; });
  EXPECT_THAT(all.remove, ElementsAre("old/deep/y", "pipe", "repo/b", "was_folder/x"));
  EXPECT_THAT(all.remove_folders, ElementsAre("was_folder", "old/deep", "old"));
}

TEST(SyncPlans, TheLastPartLeavesTheRecordOfThisTree) {
  SyncTree tree;
  for (int i = 0; i < 45'000; ++i) tree.entries["f" + std::to_string(i)] = File(kHashA);
  tree.entries["kept"] = File(kHashB);
  tree.entries["touched"] = File(kHashB);
  SyncEntry before = File(kHashB);
  before.mtime -= 1;
  const SyncState host =
      HostWith({{"kept", File(kHashB)}, {"old", File(kHashB)}, {"touched", before}});
  const SyncPlan plan = PlanParts(tree, CompareSync(tree.entries, host, {}), host, false);
  ASSERT_EQ(plan.parts.size(), 3U);
  EXPECT_EQ(plan.parts[0].orders.from, host.digest);
  EXPECT_EQ(plan.parts[1].orders.from, plan.parts[0].orders.to);
  EXPECT_EQ(plan.parts[2].orders.to, base::Sha256Hex(SyncListText(SyncRecords(tree.entries))));
  EXPECT_THAT(plan.parts[0].orders.drop,
              testing::UnorderedElementsAre(SyncRecord("old", File(kHashB)),
                                            SyncRecord("touched", before)));
  const std::string touched = SyncRecord("touched", File(kHashB));
  EXPECT_THAT(plan.parts[0].orders.add, testing::Not(testing::Contains(touched)));
  EXPECT_THAT(plan.parts[2].orders.add, testing::Contains(touched)) << "with its time";
  const SyncState equal = HostWith(tree.entries);
  EXPECT_TRUE(PlanParts(tree, CompareSync(tree.entries, equal, {}), equal, false).parts.empty());
  EXPECT_EQ(PlanParts(tree, CompareSync(tree.entries, equal, {}), equal, true).parts.size(), 1U)
      << "the record is made anew";
}

class SyncArchiveTest : public testing::Test {
 protected:
  void Add(const std::string& name, const std::string& text) {
    ASSERT_TRUE(base::WriteFileAtomic(dir_.path() / name, text, 0640).ok());
    struct stat info {};
    ASSERT_EQ(::stat((dir_.path() / name).c_str(), &info), 0);
    tree_.entries[name] = {.mode = 0640, .size = info.st_size, .mtime = 1'700'000'000};
    tree_.stamps[name] = StampOf(info);
    names_.push_back(name);
  }
  std::string Whole(SyncArchive& archive) {
    std::string text;
    for (std::size_t i = 0; i < archive.pieces(); ++i) text += *archive.Piece(i);
    return text;
  }
  test::TempDir dir_;
  SyncTree tree_{.folder = dir_.path()};
  std::vector<std::string> names_ = {};
};

TEST_F(SyncArchiveTest, IsTheSameInWhateverOrderItIsRead) {
  for (int i = 0; i < 50; ++i)
    Add("f" + std::string(static_cast<std::size_t>(3 * i), 'x'),
        std::string(977U * i, static_cast<char>('a' + i % 26)));
  SyncArchive forward(&tree_, names_, {});
  const std::string text = Whole(forward);
  EXPECT_EQ(std::ssize(text), forward.size());
  EXPECT_EQ(text.size() % 512, 0U);
  SyncArchive backward(&tree_, names_, {});
  std::string reversed;
  for (std::size_t i = backward.pieces(); i-- > 0;) reversed.insert(0, *backward.Piece(i));
  EXPECT_EQ(reversed, text);
  EXPECT_THAT(forward.changed(), IsEmpty());
}

TEST_F(SyncArchiveTest, AFileThatChangedIsToBeSkipped) {
  Add("a", "before");
  Add("b", "same");
  ASSERT_TRUE(base::WriteFileAtomic(dir_.path() / "a", "after", 0640).ok());
  SyncArchive archive(&tree_, names_, {.from = kHashA, .to = kHashB});
  const std::string text = Whole(archive);
  EXPECT_EQ(std::ssize(text), archive.size()) << "its length was announced";
  EXPECT_THAT(archive.changed(), ElementsAre("a"));
  EXPECT_THAT(text, testing::Not(HasSubstr("after")));
  const std::string ending = archive.Ending(true);
  EXPECT_THAT(ending, HasSubstr("ctl/skip"));
  EXPECT_THAT(ending, HasSubstr("- -\n")) << "no record speaks of it";
}

TEST(KeptSha256, IsReadOnlyWhereItIsWhole) {
  const std::string sha256(64, 'a');
  EXPECT_EQ(KeptSha256("noise of a shell\n.\n" + ("kept 1f " + sha256) + '\0' + "done", "1f"),
            sha256);
  EXPECT_EQ(KeptSha256("kept 1f " + sha256, "2f"), "");
  EXPECT_EQ(KeptSha256("kept 1f " + sha256.substr(1), "1f"), "");
  EXPECT_EQ(KeptSha256("kept 1f " + std::string(64, 'G'), "1f"), "");
  EXPECT_EQ(KeptSha256("", "1f"), "");
}

}  // namespace
}  // namespace jobman::client
