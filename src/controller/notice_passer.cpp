#include "controller/notice_passer.hpp"

namespace jobman::controller {

NoticePasser::NoticePasser(const StageContext& context, StageHosts& hosts)
    : context_(context), hosts_(hosts), passings_(hosts.size()) {}

void NoticePasser::Pass(const core::Notice& notice, const std::string& signal) {
  for (std::size_t index = 0; index < hosts_.size(); ++index) {
    const StageHost& host = hosts_[index];
    if (host.ended || host.stopping) continue;
    Passing& passing = passings_[index];
    passing.calls.push_back(remote::NoticeCall(hosts_.RunId(host), notice, signal));
    passing.scope = {};  // ends a call that hangs; it is made again
    base::Spawn(context_.executor, passing.scope, PassAll(index));
  }
}

base::Task<void> NoticePasser::PassAll(std::size_t index) {
  std::vector<remote::Call>& calls = passings_[index].calls;
  for (; !calls.empty(); calls.erase(calls.begin())) co_await PassOne(index, calls.front());
}

base::Task<void> NoticePasser::PassOne(std::size_t index, remote::Call call) {
  for (int tries = 1; !hosts_[index].ended; ++tries) {
    std::string said;
    const ports::ByteSink out = KeepIn(&said);
    const auto answer = co_await hosts_.Call(index, call, out);
    const auto told = remote::ParseStatus(said);
    if (told.ok() && told->kind != remote::RunStatus::Kind::kAbsent) break;
    if (!answer.ok() && IsPermanent(answer.error())) break;
    co_await base::Sleep(ReconnectWait(tries, context_.ports.random()));
  }
}

}  // namespace jobman::controller
