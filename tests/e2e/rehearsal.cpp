#include "tests/e2e/rehearsal.hpp"

#include "jobman/base/strings.hpp"

namespace jobman::test {

using testing::HasSubstr;
using testing::Not;

std::unique_ptr<Place> Rehearsal::place_ = {};

void Rehearsal::StartSuite(std::vector<std::string> controller) {
  place_ = std::make_unique<Place>();
  place_->StartSim({"--delays", "0"});
  controller.insert(controller.end(), {"--poll", "1"});
  place_->StartController(controller);
}

void Rehearsal::SetUp() {
  before_ = Counts();
}

void Rehearsal::TearDown() {
  Sim({"calm"});
  if (created_.empty()) return;
  for (const std::string& id : created_) {
    Use(id);
    if (HasFailure()) std::fprintf(stderr, "%s", (Jobman({"why", id}).All() + History()).c_str());
  }
  std::vector<std::string> words = {"delete", "--wait"};
  words.insert(words.end(), created_.begin(), created_.end());
  EXPECT_EQ(Jobman(words).code, 0);
  const std::string left = Cloud();
  for (const std::string& id : created_) EXPECT_THAT(left, Not(HasSubstr("-" + id + "-")));
}

void Rehearsal::Sim(std::vector<std::string> args) {
  const Ran ran = place_->Sim(std::move(args));
  ASSERT_EQ(ran.code, 0) << ran.All();
}

void Rehearsal::Create(const std::string& cmd, std::vector<std::string> settings, int hosts) {
  const std::string file = place_->JobFile("job", hosts, cmd, "retries: {backoff: 500ms}\n");
  std::vector<std::string> args = {"-q", "create", file};
  for (const std::string& setting : settings) args.insert(args.end(), {"--set", setting});
  const Ran ran = Jobman(args);
  ASSERT_EQ(ran.code, 0) << ran.All();
  id_ = base::Trim(ran.out);
  created_.push_back(id_);
}

void Rehearsal::CreateAndRun(std::vector<std::string> settings, int hosts, int nodes) {
  Create(kUntilLost, std::move(settings), hosts);
  if (!HasFatalFailure()) AwaitRun(hosts * nodes);
}

void Rehearsal::AwaitRun(int hosts) {
  ASSERT_TRUE(place_->Until("the first attempt to run on every host", [&] {
    for (int host = 0; host < hosts; ++host) {
      if (Log(1, host) != "attempt 1\n") return false;
    }
    return true;
  }));
}

std::string Rehearsal::Slice(int attempt) const {
  return "job-" + id_ + "-a" + std::to_string(attempt);
}

bool Rehearsal::WhySays(const std::string& text) {
  return !id_.empty() && place_->Until("why to say \"" + text + "\"", [&] {
    return base::Contains(Jobman({"why", id_}).out, text);
  });
}

std::string Rehearsal::Log(int attempt, int host, const std::string& stage) {
  return place_->Log(static_cast<int>(base::ParseNumber(id_).value_or(0)), attempt, stage, host);
}

std::string Rehearsal::Spent() {
  const base::Json job = place_->Show(id_);
  const base::Json& spent = base::GetMember(job, "spent");
  std::string text;
  for (const char* budget : {"preemption", "failure", "infra"}) {
    text += (text.empty() ? "" : ", ") + std::string(budget) + " " +
            std::to_string(base::GetInt(spent, budget));
  }
  return text;
}

std::map<std::string, std::int64_t> Rehearsal::Counts() {
  std::map<std::string, std::int64_t> counts;
  const auto log = base::ParseJson(place_->Sim({"requests"}).out);
  if (!log.ok()) return counts;
  const base::Json& all = base::GetMember(*log, "counts");
  for (const auto& [method, count] : all.items()) counts[method] = count.get<std::int64_t>();
  return counts;
}

std::int64_t Rehearsal::Calls(const std::string& verb) {
  std::int64_t calls = 0;
  for (const auto& [method, count] : Counts()) {
    if (method.ends_with(verb)) calls += count - before_[method];
  }
  return calls;
}

std::vector<std::string> Way::Settings(std::vector<std::string> more) const {
  more.emplace_back(direct ? "tpu.allocation_mode=tpu-vm" : "tpu.allocation_mode=queued-resources");
  more.push_back("tpu.num_slices=" + std::to_string(nodes));
  if (setting != nullptr) more.emplace_back(setting);
  return more;
}

std::string Way::Resource(const std::string& slice) const {
  const std::string zone = "projects/local-project/locations/us-central2-b/";
  return direct ? zone + "nodes/" + Node(slice) : zone + "queuedResources/" + slice;
}

RehearsalSideBySide::RehearsalSideBySide(std::vector<Way> ways) {
  for (const Way& way : ways) parts_.push_back({.way = way});
}

void RehearsalSideBySide::Each(const std::function<void()>& step) {
  for (now_ = 0; now_ < parts_.size(); ++now_) {
    if (HasFatalFailure()) break;
    SCOPED_TRACE(way().name);
    Use(parts_[now_].job);
    step();
    parts_[now_].job = id();
  }
  now_ = 0;
}

std::int64_t RehearsalSideBySide::Requests() const {
  std::int64_t requests = 0;
  for (const Part& part : parts_) requests += part.way.Requests();
  return requests;
}

void RehearsalSideBySide::CreateAndRunEach(const std::vector<std::string>& more) {
  Each([&] { Create(kUntilLost, way().Settings(more)); });
  Each([&] { AwaitRun(way().nodes); });
}

}  // namespace jobman::test
