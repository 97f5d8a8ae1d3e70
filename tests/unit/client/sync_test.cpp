#include "jobman/client/sync.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "jobman/base/process.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/run_on_hosts.hpp"
#include "tests/support/local_shell.hpp"
#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

TEST(SyncOrders, NameAFolderHereAndOneOfItsOwnThere) {
  const auto order = PlanSync("data/", "train:code");
  ASSERT_TRUE(order.ok());
  EXPECT_EQ(order->job, "train");
  EXPECT_EQ(order->to, "code");
  EXPECT_EQ(order->folder, fs::current_path() / "data");
  for (const char* target : {"train:", "train:/", "train:~", "train:.", "train:a/..", "train:../x",
                             "train:a/../../b", "code", "./a:b"})
    EXPECT_EQ(PlanSync(".", target).error().code, base::Code::kInvalidArgument) << target;
  EXPECT_THAT(PlanSync("train:code", ".").error().message, HasSubstr("not the reverse"));
}

/// Hosts are folders of this machine, and run the real script.
class SyncTest : public test::ClientWorld {
 protected:
  SyncTest() {
    ::signal(SIGPIPE, SIG_IGN);  // as the program does
    shell_ = &hosts_;
    fs::create_directories(Here());
  }
  std::vector<ssh::FanOutHost> Hosts(int count) {
    core::Job job = test::JobBuilder().Build();
    job.attempt = 1;
    auto hosts = ChooseHosts(Context().paths, test::WithHosts(std::move(job), count), "all");
    EXPECT_TRUE(hosts.ok());
    return std::move(*hosts);
  }
  Synced Sync(int hosts = 1, SyncTold told = {}) {
    const auto context = Context();
    auto synced = SyncToHosts(context, Hosts(hosts), order_, std::move(told));
    EXPECT_TRUE(synced.ok()) << synced.error().ToString();
    return synced.ok() ? std::move(*synced) : Synced{};
  }
  /// Syncs to one host, and expects that it has no error.
  Synced::Host SyncOne() {
    const Synced synced = Sync();
    if (synced.hosts.size() != 1) return {};
    EXPECT_FALSE(synced.hosts[0].error) << synced.hosts[0].error->ToString();
    return synced.hosts[0];
  }
  static void Write(const base::Path& path, const std::string& text, mode_t mode = 0640) {
    fs::create_directories(path.parent_path());
    ASSERT_TRUE(base::WriteFileAtomic(path, text, mode).ok());
  }
  static std::string Read(const base::Path& path) {
    return base::ReadFile(path).value_or("(none)");
  }
  base::Path Here(const std::string& name = {}) { return home_.path() / "here" / name; }
  base::Path There(const std::string& name = {}, const std::string& host = "h0") {
    return hosts_.HomeOf(host) / "my code" / name;
  }
  /// What is in a folder: type, mode, seconds, target and name of each thing, without the record.
  std::vector<std::string> Facts(const base::Path& folder) {
    const auto said = Await(base::RunProcess(
        {"sh", "-c",
         "cd \"$0\" && find . -mindepth 1 -path ./.jobman-sync -prune -o -type f -printf "
         "'f %m %T@ %s %p\\0' -o -type d -printf 'd %m %p\\0' -o -printf '%y %l %p\\0' | sort -z | "
         "sed -z 's/\\.[0-9]* / /'",
         folder.string()}));
    return base::Split(said->out, '\0');
  }
  void ExpectEqual(const std::string& host = "h0") {
    EXPECT_EQ(Facts(There({}, host)), Facts(Here()));
  }
  void FillTree() {
    Write(Here("a"), "A", 0600);
    Write(Here("-d/x y"), std::string(200'000, 'x'), 0755);
    Write(Here("-d/new\nline\\n"), "");
    Write(Here("deep/" + std::string(90, 'p') + "/" + std::string(90, 'q')), "long");
    fs::create_directories(Here("empty/inner"));
    fs::create_symlink("../a", Here("-d/link"));
    fs::create_symlink(std::string(150, 't'), Here("dangling"));
    ASSERT_EQ(::chmod(Here("empty").c_str(), 0750), 0);
    const timespec old[2] = {{.tv_sec = 1'500'000'000, .tv_nsec = 5},
                             {.tv_sec = 1'500'000'000, .tv_nsec = 5}};
    ASSERT_EQ(::utimensat(AT_FDCWD, Here("a").c_str(), old, 0), 0);
  }
  test::LocalShell hosts_{home_.path() / "hosts"};
  SyncOrder order_{.folder = home_.path() / "here", .to = "my code"};
};

TEST_F(SyncTest, TheFirstSendsAllAndTheSecondNothing) {
  FillTree();
  const Synced first = Sync(2);
  EXPECT_EQ(first.files, 6);
  for (const auto& row : first.hosts) {
    ASSERT_FALSE(row.error) << row.error->ToString();
    EXPECT_EQ(row.sent, 6);
  }
  ExpectEqual("h0");
  ExpectEqual("h1");
  const int calls = hosts_.calls();
  const Synced second = Sync(2);
  for (const auto& row : second.hosts) {
    EXPECT_TRUE(row.nothing);
    EXPECT_EQ(row.bytes, 0);
  }
  EXPECT_EQ(hosts_.calls(), calls + 2) << "one question to each host";
}

TEST_F(SyncTest, OnlyWhatChangedIsSentAndTheRestStays) {
  FillTree();
  SyncOne();
  Write(There("theirs/log"), "theirs");
  Write(Here("a"), "AA", 0600);
  Write(Here("deep/more"), "more");
  ASSERT_EQ(::chmod(Here("-d/x y").c_str(), 0700), 0);
  const Synced::Host row = SyncOne();
  EXPECT_EQ(row.sent, 2);
  EXPECT_EQ(row.changed, 1);
  EXPECT_LT(row.bytes, 20'000);
  EXPECT_EQ(Read(There("a")), "AA");
  EXPECT_EQ(Read(There("theirs/log")), "theirs");
  EXPECT_EQ(fs::status(There("-d/x y")).permissions(), fs::perms{0700});
  EXPECT_TRUE(SyncOne().nothing);
}

TEST_F(SyncTest, WhatSomebodyChangedThereIsMadeEqualAgain) {
  FillTree();
  SyncOne();
  Write(There("a"), "Z", 0600);  // of the same size
  fs::remove(There("-d/x y"));
  fs::remove(There("-d/link"));
  Write(There("-d/link"), "no link");
  EXPECT_EQ(SyncOne().sent, 3);
  ExpectEqual();
  // The same content as a new file: only looked at.
  fs::copy_file(There("-d/x y"), There("copy"));
  fs::rename(There("copy"), There("-d/x y"));
  EXPECT_EQ(SyncOne().sent, 0);
  ExpectEqual();
  EXPECT_TRUE(SyncOne().nothing);
}

TEST_F(SyncTest, AFolderThatIsEqualAlreadyIsHashedThereAndNotSent) {
  FillTree();
  fs::create_directories(hosts_.HomeOf("h0"));
  fs::copy(Here(), There(), fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  EXPECT_EQ(SyncOne().sent, 0);
  ExpectEqual();
  EXPECT_TRUE(SyncOne().nothing) << "now there is a record";
}

TEST_F(SyncTest, DeletesOnRequestButNeverWhatIsExcluded) {
  Write(Here(".gitignore"), "*.log\n/out/\n");
  Write(Here("a"), "A");
  Write(Here("sub/b"), "B");
  order_.exclude = {"*.ckpt"};
  order_.remove = true;
  SyncOne();
  Write(There("old/x"), "x");
  Write(There("old/x.log"), "kept");
  Write(There("out/result"), "kept");
  Write(There("m.ckpt"), "kept");
  Write(There("repo/.git/HEAD"), "kept");
  Write(There("gone/deep/y"), "y");
  Write(hosts_.HomeOf("h0") / "outside/z", "kept");
  fs::create_directory_symlink("../outside", There("way"));
  fs::remove_all(Here("sub"));
  order_.dry_run = true;
  const Synced dry = Sync();
  ASSERT_EQ(dry.changes.size(), 1U);
  EXPECT_THAT(dry.changes[0].remove,
              ElementsAre("gone/", "gone/deep/", "gone/deep/y", "old/x", "sub/", "sub/b", "way"));
  EXPECT_EQ(Read(There("old/x")), "x") << "it was only asked";
  order_.dry_run = false;
  EXPECT_EQ(SyncOne().removed, 4);
  for (const char* gone : {"old/x", "gone", "sub", "way"})
    EXPECT_FALSE(fs::exists(fs::symlink_status(There(gone)))) << gone;
  for (const char* kept : {"old/x.log", "out/result", "m.ckpt", "repo/.git/HEAD"})
    EXPECT_EQ(Read(There(kept)), "kept") << kept;
  EXPECT_EQ(Read(hosts_.HomeOf("h0") / "outside/z"), "kept");
  EXPECT_TRUE(SyncOne().nothing);
}

TEST_F(SyncTest, IgnoredFilesStayHere) {
  Write(Here(".gitignore"), "*.log\nbuild/\n");
  Write(Here("a"), "A");
  Write(Here("b.log"), "B");
  Write(Here("c.tmp"), "C");
  Write(Here("build/d"), "D");
  fs::create_directories(Here("build/empty"));
  order_.exclude = {"*.tmp"};
  EXPECT_EQ(SyncOne().sent, 2);
  EXPECT_FALSE(fs::exists(There("b.log")));
  EXPECT_FALSE(fs::exists(There("c.tmp")));
  EXPECT_FALSE(fs::exists(There("build")));
}

TEST_F(SyncTest, FilesAndFoldersTakeEachOthersPlace) {
  Write(Here("one"), "file");
  Write(Here("two/x"), "x");
  SyncOne();
  fs::remove(Here("one"));
  fs::remove_all(Here("two"));
  Write(Here("one/y"), "y");
  Write(Here("two"), "file");
  const Synced refused = Sync();
  ASSERT_TRUE(refused.hosts[0].error) << "two/x would be lost";
  order_.remove = true;
  SyncOne();
  ExpectEqual();
}

TEST_F(SyncTest, NothingIsWrittenThroughALink) {
  Write(Here("d/a"), "A");
  SyncOne();
  Write(hosts_.HomeOf("h0") / "outside/a", "kept");
  fs::remove_all(There("d"));
  fs::create_directory_symlink("../outside", There("d"));
  SyncOne();
  EXPECT_EQ(Read(hosts_.HomeOf("h0") / "outside/a"), "kept");
  ExpectEqual();
}

TEST_F(SyncTest, ReadOnlyFoldersAreFilledAndStaySo) {
  Write(Here("ro/a"), "A");
  ASSERT_EQ(::chmod(Here("ro").c_str(), 0555), 0);
  SyncOne();
  ExpectEqual();
  ASSERT_EQ(::chmod(Here("ro").c_str(), 0755), 0);
  Write(Here("ro/b"), "B");
  ASSERT_EQ(::chmod(Here("ro").c_str(), 0555), 0);
  SyncOne();
  ExpectEqual();
  for (const base::Path& folder : {Here("ro"), There("ro")}) ::chmod(folder.c_str(), 0755);
}

TEST_F(SyncTest, OneFailingHostCostsTheOthersNothing) {
  FillTree();
  hosts_.Unplug("h1");
  const Synced synced = Sync(3);
  EXPECT_EQ(synced.hosts[1].error->reason, base::Reason::kHostRefused);
  EXPECT_FALSE(synced.hosts[0].error);
  EXPECT_FALSE(synced.hosts[2].error);
  ExpectEqual("h0");
  ExpectEqual("h2");
}

TEST_F(SyncTest, WhatWasLeftHalfwayIsGoneOnWith) {
  FillTree();
  hosts_.LoseAnswers(1);
  EXPECT_TRUE(Sync().hosts[0].error);
  EXPECT_EQ(SyncOne().sent, 6);
  ExpectEqual();
  int left = 0;
  for (const auto& one : fs::directory_iterator(There(".jobman-sync")))
    left += base::Contains(one.path().filename().string(), "new-") ? 1 : 0;
  EXPECT_EQ(left, 0);
}

/// As on NFS: each of them unpacks its own archive, and the last one to move a file wins.
TEST_F(SyncTest, HostsMayShareTheFolder) {
  FillTree();
  order_.remove = true;
  fs::create_directories(hosts_.HomeOf("h0"));
  for (const char* other : {"h1", "h2"})
    fs::create_directory_symlink(hosts_.HomeOf("h0"), hosts_.HomeOf(other));
  for (int round = 0; round < 2; ++round) {
    Write(There("old/deep/x"), "x");
    for (const auto& row : Sync(3).hosts) EXPECT_FALSE(row.error) << row.error->ToString();
    ExpectEqual();
    Write(Here("a"), "round " + std::to_string(round), 0600);
  }
}

TEST_F(SyncTest, ARecordThatIsWrongIsOnlyLost) {
  FillTree();
  SyncOne();
  Write(There(".jobman-sync/state/list"), "evil");
  Write(Here("a"), "AA", 0600);
  EXPECT_EQ(SyncOne().sent, 1);
  ExpectEqual();
  fs::remove_all(There(".jobman-sync"));
  EXPECT_EQ(SyncOne().sent, 0);
  ExpectEqual();
}

TEST_F(SyncTest, WhatIsNoFolderOrEmptyIsRefused) {
  const auto context = Context();
  EXPECT_THAT(SyncToHosts(context, Hosts(1), order_, {}).error().message,
              HasSubstr("there are no files in"))
      << "with --delete all would go";
  order_.folder = Here("none");
  EXPECT_EQ(SyncToHosts(context, Hosts(1), order_, {}).error().code, base::Code::kNotFound);
  Write(Here("file"), "x");
  order_.folder = Here("file");
  EXPECT_THAT(SyncToHosts(context, Hosts(1), order_, {}).error().message,
              HasSubstr("is no folder"));
}

TEST_F(SyncTest, AnInterruptLeavesWholeFiles) {
  FillTree();
  const auto context = Context();
  int told = 0;
  const auto synced = SyncToHosts(context, Hosts(2), order_, [&](const SyncProgress& progress) {
    if (progress.sent > 0 && ++told == 1) ::raise(SIGINT);
  });
  ASSERT_FALSE(synced.ok());
  EXPECT_EQ(synced.error().code, base::Code::kCancelled);
  EXPECT_THAT(synced.error().message, HasSubstr("done: 0 of 2 hosts;"));
  Sync(2);
  ExpectEqual("h0");
  ExpectEqual("h1");
}

TEST_F(SyncTest, AFileThatChangesMeanwhileIsNotCountedAsSent) {
  Write(Here("a"), "A");
  Write(Here("log"), "one line\n");
  const Synced synced = Sync(2, [&](const SyncProgress& progress) {
    if (progress.read == 10) Write(Here("log"), "one line, and more\n");  // both were read
  });
  ASSERT_THAT(synced.notes, testing::SizeIs(1));
  EXPECT_THAT(synced.notes[0], HasSubstr("log: file changed while it was read, and was not sent"));
  for (const auto& row : synced.hosts) {
    EXPECT_FALSE(row.error);
    EXPECT_EQ(row.sent, 1) << "of two";
  }
  Sync(2);
  ExpectEqual("h0");
}

/// A host that answers what it likes.
class LyingSyncHost final : public ports::HostShell {
 public:
  base::Task<base::Result<int>> Run(ports::SharedTarget, ports::RemoteCommand, ports::ByteSink out,
                                    ports::ByteSink) override {
    for (int i = 0; i < times; ++i) JM_CO_TRY(out(sends));
    co_await base::Yield();
    co_return 0;
  }
  void Drop(const ports::HostTarget&) override {}
  std::string sends = {};
  int times = 1;
};

TEST_F(SyncTest, AHostThatSendsTooMuchOrAnotherNameIsRefused) {
  Write(Here("a"), "A");
  LyingSyncHost liar;
  shell_ = &liar;
  for (const char* part : {"jobman-sync 1", "unknown", "f 644 1 1 1 1 ./../../etc/x", "end"})
    liar.sends += part + std::string(1, '\0');
  EXPECT_THAT(Sync().hosts[0].error->message, HasSubstr("leads out of the folder"));
  liar.sends = std::string(std::size_t{1} << 20, 'x');
  liar.times = 100;
  const Synced synced = Sync();
  EXPECT_THAT(synced.hosts[0].error->message, HasSubstr("longer than 32"));
  EXPECT_EQ(synced.hosts[0].error->code, base::Code::kResourceExhausted);
}

}  // namespace
}  // namespace jobman::client
