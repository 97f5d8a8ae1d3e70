// docs/guide/commands: a page for each command, with its help and an example whose output was made
// by running it. JOBMAN_BLESS=1 writes the pages. They are compared without what differs from run
// to run: times, durations, addresses and the order of lines.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "jobman/base/strings.hpp"
#include "tests/e2e/listener.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

/// What is done for the page of a command, in this order.
struct Step {
  std::string command = {};
  std::string lines = {};  ///< of the shell
  int attempt = 0;         ///< of train, whose hosts have written before; 0: not waited for
};

const std::vector<Step> kSteps = {
    {"version", "jobman version"},
    {"help", "jobman help version"},
    {"init",
     "jobman init first.yaml --cloud local --accelerator v4-16 --zone us-central2-b\n"
     "sed -n 1,12p first.yaml"},
    {"config", "jobman config check train.yaml\njobman config explain tpu.pricing"},
    {"create", "jobman create train.yaml --dry-run\njobman create train.yaml"},
    {"run", "jobman run eval.yaml", 1},
    {"wait", "jobman wait eval\njobman wait train --for running"},
    {"doctor", "jobman doctor train.yaml"},
    {"list", "jobman list\njobman list -s failed"},
    {"show", "jobman show eval"},
    {"why", "jobman why eval\njobman why train"},
    {"history", "jobman history eval"},
    {"logs", "jobman logs train --tail 2\njobman logs eval -t"},
    {"queue", "jobman queue tasks.yaml"},
    {"task", "jobman task show first\ncat lr.sh\njobman task submit lr.sh"},
    {"status", "jobman status"},
    {"exec",
     "jobman exec train -- 'echo out of $HOME'\njobman exec train -w 1 -q -- echo raw\n"
     "jobman exec train --fold --job-env -- 'test $JOBMAN_HOST_INDEX = 0 && echo first'\n"
     "jobman exec train --rerun-failed -- echo mended"},
    {"top", "jobman top train"},
    {"ssh", "jobman ssh train -w 1 pwd"},
    {"ssh-config",
     "jobman ssh-config train -q\njobman ssh-config install --file my_config --yes\n"
     "ssh -F my_config jobman-train-w1 pwd"},
    {"cp", "echo 0.1 >rate.txt\njobman cp rate.txt train:\njobman cp train:rate.txt copy.txt -w 1"},
    {"sync",
     "mkdir code && echo 0.1 >code/rate.txt && echo 'print(1)' >code/train.py\n"
     "jobman sync code train:code\necho 0.2 >code/rate.txt\njobman sync code train:code --dry-run\n"
     "jobman sync code train:code --delete\njobman sync code train:code"},
    {"forward",
     "jobman forward train 16006:6006\n"
     "jobman forward train 16007:6006 --background\njobman forward list\n"
     "jobman forward stop 16007"},
    {"keys", "jobman keys add ann.pub --job train\njobman keys list\njobman keys remove ann"},
    {"quota",
     "jobman-sim set quota.us-central2-b/v4-spot=64\njobman quota --project local-project"},
    {"storage", "jobman --endpoint local storage"},
    {"billing", "jobman --endpoint local billing --days 2"},
    {"edit", "EDITOR='sed -i s/3600/7200/' jobman edit train"},
    {"cancel", "jobman cancel train --wait"},
    {"resume", "jobman resume train --set command.env.LR=0.01"},
    {"reboot", "jobman reboot train", 2},
    {"requeue", "jobman requeue train", 3},
    {"controller", "jobman controller status", 4},
    {"maintain", "jobman maintain train"},
    {"delete", "jobman delete train --wait"},
    {"cost", "jobman cost eval train\njobman cost eval train --by zone"},
    {"zones", "jobman zones -a v4-8\njobman zones us-central2-b"},
    {"clean", "jobman clean eval --yes"},
    {"worker",
     "jobman worker start -n night -a v4-8 -z us-central2-b --set cloud.endpoint=local\n"
     "jobman worker delete night --wait"},
    {"import", "jobman import old --dry-run\njobman import old"},
    {"gc", "jobman gc"},
    {"tick", "jobman controller stop\njobman tick && echo done"},
    {"store", "jobman store adopt"},
    {"completion", "jobman completion bash | head -n 3"},
};

/// Where a text is broken depends on the states that were seen: a column is as wide as the longest.
std::vector<std::string> WholeTexts(const std::string& page) {
  static const std::string kFarIn(22, ' ');
  std::vector<std::string> lines;
  for (const std::string& line : base::Split(page, '\n')) {
    const bool goes_on = line.starts_with(kFarIn) && !lines.empty();
    if (goes_on) {
      lines.back() += line;
    } else {
      lines.push_back(line);
    }
  }
  return lines;
}

/// Not what changes from run to run.
std::string Lasting(const std::string& page) {
  static const re2::RE2 kTime(R"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?)");
  static const re2::RE2 kSince(R"(since \d{4}-\d\d-\d\d)");
  static const re2::RE2 kDuration(R"(\b\d+(\.\d+)?(ms|s|m|h)(\d+(\.\d+)?(ms|s|m))?\b)");
  static const re2::RE2 kAddress(R"(\b(127|10|34)\.\d+\.\d+\.\d+(:\d+)?)");
  static const re2::RE2 kNumber(R"((process|ago, host) \d+)");
  // What it costs to hold a slice; on demand, and what is saved.
  static const re2::RE2 kMoney(R"(DURATION +\d+\.\d\d( +\d+\.\d\d +\d+%)?$)");
  static const re2::RE2 kProcess(R"((ADDRESS .* DURATION) +\d+$)");  // that forwards
  static const re2::RE2 kDisk(R"(, on [\w.-]+, [\d.]+ \w+ free)");
  static const re2::RE2 kVersions(R"(versions +jobman .*)");
  // How hosts do.
  static const re2::RE2 kHostRow(R"(^ +(\d+) +[\d.]+ +[\d.]+ +\d+% .*)");
  static const re2::RE2 kBlanks(R"([ \t]+)");
  // Not each state is seen: some are over at once.
  static const re2::RE2 kNarrated(R"(\s*DURATION +[A-Z]+ .*|.* PROVISIONING .*)");
  static const re2::RE2 kCut(" host [0-9].*…$");  // where depends on the columns before
  std::vector<std::string> lines;
  for (std::string line : WholeTexts(page)) {
    re2::RE2::Replace(&line, kHostRow, "host \\1");
    re2::RE2::GlobalReplace(&line, kTime, "TIME");
    re2::RE2::Replace(&line, kSince, "since DAY");
    re2::RE2::GlobalReplace(&line, kDuration, "DURATION");
    re2::RE2::GlobalReplace(&line, kAddress, "ADDRESS");
    re2::RE2::Replace(&line, kMoney, "DURATION MONEY");
    re2::RE2::Replace(&line, kProcess, "\\1");
    re2::RE2::GlobalReplace(&line, kNumber, "\\1");
    re2::RE2::Replace(&line, kDisk, ", on DISK");
    re2::RE2::Replace(&line, kVersions, "versions");
    if (line.empty() || re2::RE2::FullMatch(line, kNarrated)) continue;
    re2::RE2::GlobalReplace(&line, kBlanks, " ");
    re2::RE2::Replace(&line, kCut, "");
    lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  return base::Join(lines, "\n");
}

/// What services beside Cloud TPU say, which the simulator does not have.
std::string SideAnswer(const std::string& request) {
  if (base::Contains(request, "GET /storage/v1/b?")) {
    return R"({"items": [
        {"name": "demo-data", "location": "US-CENTRAL2", "locationType": "region",
         "storageClass": "STANDARD"},
        {"name": "demo-old", "location": "EUROPE-WEST4", "locationType": "region",
         "storageClass": "NEARLINE"}]})";
  }
  if (base::Contains(request, "/timeSeries?")) {
    return R"({"timeSeries": [{"resource": {"labels": {"bucket_name": "demo-data"}},
        "points": [{"value": {"doubleValue": 5300000000}}]}]})";
  }
  if (base::Contains(request, "/queries")) {
    return R"({"jobComplete": true, "totalRows": "3", "rows": [
        {"f": [{"v": "2026-11-26"}, {"v": "TpuV4 Spot running in Oklahoma"}, {"v": "88.464"},
               {"v": "USD"}]},
        {"f": [{"v": "2026-11-26"}, {"v": "Standard Storage Iowa"}, {"v": "0.31"}, {"v": "USD"}]},
        {"f": [{"v": "2026-11-27"}, {"v": "TpuV4 Spot running in Oklahoma"}, {"v": "14.744"},
               {"v": "USD"}]}]})";
  }
  return {};
}

class Pages : public testing::Test {
 protected:
  void SetUp() override {
    place_.StartSim({"--delays", "0"});
    std::filesystem::create_directories(Folder());
    Write("train.yaml",
          "job: {name: train}\ncloud: local\n"
          "tpu: {accelerator: v4-16, zone: us-central2-b, pricing: spot}\n"
          "command:\n  grace: 5s\n  cmd: |\n"
          "    for step in 1 2 3; do echo \"step $step, loss 0.$((9 - step))\"; done\n"
          "    sleep 3600\n");
    Write("eval.yaml",
          "job: {name: eval, when_done: delete}\ncloud: local\n"
          "tpu: {accelerator: v4-8, zone: us-central2-b, pricing: ondemand}\n"
          "command: {cmd: 'echo evaluating; test -d ~/checkpoint'}\n");
    Write("old/jobs/.jobman/meta.json",
          R"({"000012": {"user": "ann", "name": "llama", "job_dir": "/gone",
              "config_path": "/gone", "session_name": "job_000012"}})");
    Write("old/jobs/ann/000012/config.yaml",
          "job: {id: '000012', name: llama}\n"
          "tpu: {name: llama, accelerator: v4-16, zone: us-central2-b, pricing: spot}\n"
          "command: {cmd: 'python train.py'}\n");
    Write("old/jobs/ann/000012/logs/command_worker_0.log", "step 1\n");
    Write("tasks.yaml",
          "accelerators:\n  v4-16:\n    zone: us-central2-b\n    tasks:\n"
          "      - {id: first, run: python3 train.py --lr 0.1}\n"
          "      - {id: second, run: python3 train.py --lr 0.3}\n"
          "      - {id: report, run: python3 report.py, depends_on: [first, second]}\n");
    Write("ann.pub",
          "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAII7RC1GwqZvHvwNpCaOcPqaMCOOL4ok5Vg0H3R0ngfrA "
          "ann@laptop\n");
    Write("lr.sh",
          "#!/bin/bash\n#JOBMAN --accelerator=v4-8 --zone=us-central2-b\n"
          "python train.py --tpu \"$JOBMAN_TPU_NAME\"\n");
  }

  base::Path Folder() const { return place_.path() / "user" / "proj"; }
  void Write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((Folder() / name).parent_path());
    ASSERT_TRUE(base::WriteFileAtomic(Folder() / name, text).ok());
  }
  /// Runs a line of a shell in the user's folder, as it would look in a terminal.
  std::string Shell(const std::string& line) {
    // It would go on until Ctrl-C.
    // In the foreground it is sent one INT. A second one, to the group, may meet LeakSanitizer when
    // it stops the process that ends, and then neither goes on.
    const std::string limit =
        line.starts_with("jobman forward") ? "timeout --foreground -s INT 10 " : "";
    const Ran ran = RunProgram(
        {"env", "-i", fmt::format("PATH={}:{}", JOBMAN_BIN_DIR, std::getenv("PATH")),
         "JOBMAN_HOME=" + place_.home().string(), "COLUMNS=100", "LC_ALL=C.UTF-8",
         // LeakSanitizer of GCC 12 takes the thread-local memory of a library that was loaded late
         // for something else if it begins 16 bytes into a page: it crashes, and says so on the
         // screen.
         "ASAN_OPTIONS=intercept_tls_get_addr=0",
         // Services beside Cloud TPU get no token of the cloud `local`.
         "JOBMAN_ENDPOINT=" + (line.starts_with("jobman quota") ? place_.SimEndpoint() : ""),
         "JOBMAN_QUOTA_ENDPOINT=" + place_.SimEndpoint(),
         "GOOGLE_OAUTH_ACCESS_TOKEN=" +
             std::string(base::Trim(base::ReadFile(place_.SimTokenFile()).value_or(""))),
         "JOBMAN_STORAGE_ENDPOINT=" + SideEndpoint(), "JOBMAN_BIGQUERY_ENDPOINT=" + SideEndpoint(),
         "JOBMAN_BILLING_TABLE=demo.billing.gcp_billing_export_v1_01AB",
         "JOBMAN_MONITORING_ENDPOINT=" + SideEndpoint(),
         "HOME=" + (place_.path() / "user").string(), "sh", "-c",
         fmt::format("cd {} && {{ {}{}; }} 2>&1", Folder().string(), limit, line)});
    return Anybody(ran.out);
  }
  /// No folder of this machine, and no user of it.
  std::string Anybody(std::string text) const {
    const std::pair<std::string, std::string> names[] = {
        {place_.home().string(), "/home/ann/.local/state/jobman"},
        {(place_.path() / "user").string(), "/home/ann"},
        {JOBMAN_BIN_DIR, "/usr/bin"},
        {" on " + HostName() + "\n", " on laptop\n"},
        {place_.SimEndpoint(), "http://127.0.0.1:8085"}};
    for (const auto& [from, to] : names) {
      if (from.empty()) continue;
      for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    }
    const re2::RE2 user("(user +|created by |/home/|\\) )" + re2::RE2::QuoteMeta(base::UserName()) +
                        R"(\b)");
    re2::RE2::GlobalReplace(&text, user, "\\1ann");
    static const re2::RE2 kOwner(R"("jobman-owner": "[^"]*")");
    re2::RE2::GlobalReplace(&text, kOwner, R"("jobman-owner": "ann")");
    static const re2::RE2 kKeyOf(R"("[^" ]*:ssh-)");
    re2::RE2::GlobalReplace(&text, kKeyOf, "\"ann:ssh-");
    // Numbers that nobody can repeat.
    static const re2::RE2 kRequest("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
    static const re2::RE2 kStore(R"(\b[0-9a-f]{12}\b)");
    re2::RE2::GlobalReplace(&text, kRequest, "5c8ebee6-86a6-4db0-a3b6-24452534b77f");
    re2::RE2::GlobalReplace(&text, kStore, "24452534b77f");
    return text;
  }
  std::string SideEndpoint() const {
    return "http://127.0.0.1:" + std::to_string(services_.port());
  }
  static std::string HostName() { return std::string(base::Trim(RunProgram({"uname", "-n"}).out)); }

  std::string PageOf(const Step& step) {
    std::string page = fmt::format("# jobman {}\n\n```\n{}```\n\n## Example\n\n```\n", step.command,
                                   Shell("jobman help " + step.command));
    for (const std::string& line : base::Split(step.lines, '\n'))
      page += fmt::format("$ {}\n{}", line, Shell(line));
    return page + "```\n";
  }

  Listener services_{ServiceThatFinds(SideAnswer)};
  Place place_;
};

TEST_F(Pages, SayWhatCommandsPrint) {
  if (RunProgram({"bwrap", "--ro-bind", "/", "/", "true"}).code != 0)
    GTEST_SKIP() << "without bubblewrap the folders of simulated hosts are others";
  const base::Path folder = base::Path(JOBMAN_SOURCE_DIR) / "docs/guide/commands";
  std::set<std::string> pages;
  for (const Step& step : kSteps) {
    if (step.attempt > 0) {
      ASSERT_TRUE(place_.Until("its hosts to write", [&] {
        return base::Contains(place_.Log(1, step.attempt, "run", 0), "step 3") &&
               base::Contains(place_.Log(1, step.attempt, "run", 1), "step 3");
      }));
      ASSERT_TRUE(place_.Reaches("train", "RUNNING"));
    }
    const std::string page = PageOf(step);
    const base::Path file = folder / (step.command + ".md");
    pages.insert(step.command);
    if (std::getenv("JOBMAN_BLESS") != nullptr) {
      ASSERT_TRUE(base::EnsureDir(folder).ok());
      ASSERT_TRUE(base::WriteFileAtomic(file, page, 0644).ok());
      continue;
    }
    EXPECT_EQ(Lasting(page), Lasting(base::ReadFile(file).value_or("")))
        << file << ": JOBMAN_BLESS=1 accepts what is printed now:\n"
        << page;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    EXPECT_TRUE(pages.contains(entry.path().stem())) << entry.path() << " is of no command";
  const std::string help = Shell("jobman --help");
  for (const std::string& line : base::Split(help.substr(help.find("Subcommands:")), '\n')) {
    const std::string name = line.substr(0, line.find_first_of(" ,", 2));
    const bool command = line.starts_with("  ") && line[2] != ' ';
    EXPECT_TRUE(!command || pages.contains(name.substr(2))) << name << " has no page";
  }
}

}  // namespace
}  // namespace jobman::test
