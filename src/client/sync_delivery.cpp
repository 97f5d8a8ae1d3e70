#include "client/sync_delivery.hpp"

#include <asio/this_coro.hpp>
#include <chrono>
#include <utility>

#include "jobman/base/random.hpp"
#include "jobman/client/copy.hpp"
#include "jobman/remote/sync_script.hpp"

namespace jobman::client {

using base::Result;
using base::Task;

namespace {

/// What a host may say to `apply`; more is not read.
constexpr std::size_t kMostApplyAnswer = std::size_t{64} << 10;
/// The exit code of sync.sh when nothing was done.
constexpr int kNothingDone = 2;
/// Archives that a host keeps for others.
constexpr std::size_t kMostKept = 3;
/// How long removing what was kept for others may take.
constexpr base::Duration kForgetLimit = std::chrono::seconds{5};

}  // namespace

SyncDelivery::SyncDelivery(ports::HostShell* shell, const std::vector<ssh::FanOutHost>* hosts,
                           const SyncTree* tree, std::string directory,
                           std::vector<std::string> peers, Synced* synced,
                           std::function<void(std::int64_t)> on_bytes)
    : shell_(shell),
      hosts_(hosts),
      tree_(tree),
      directory_(std::move(directory)),
      peers_(std::move(peers)),
      synced_(synced),
      on_bytes_(std::move(on_bytes)) {}

Task<base::Status> SyncDelivery::Bring(std::size_t row, std::shared_ptr<SyncPlan> plan,
                                       std::size_t part, bool* complete) {
  const auto relay = plan->parts[part].relay;
  const std::shared_ptr<SyncArchive> archive = plan->Open(tree_, part);
  Turn turn;
  if (*complete && !peers_.empty() && hosts_->size() > 1 &&
      controller::IsRelayed(archive->size())) {
    turn = co_await relay->Next();
    if (turn.from() || turn.keeps()) co_await ForgetOldest(row);
  }
  if (turn.from()) {
    JM_CO_ASSIGN_OR_RETURN(const bool given, co_await Fetch(row, relay, &turn));
    if (given) co_return base::Ok();
  }
  Applied applied = co_await Send(row, archive, *complete, &turn);
  if (applied.kept) kept_[row].push_back({.id = applied.kept->id, .relay = relay});
  const bool no_room = turn.keeps() && applied.code.ok() && *applied.code == kNothingDone;
  if (no_room) {  // for the archive beside its files, perhaps
    turn = Turn();
    applied = co_await Send(row, archive, *complete, &turn);
  }
  *complete = *complete && archive->changed().empty();
  changed_.insert(archive->changed().begin(), archive->changed().end());
  co_return ApplyEnd(row, applied.code);
}

Task<SyncDelivery::Applied> SyncDelivery::Send(std::size_t row,
                                               std::shared_ptr<SyncArchive> archive, bool complete,
                                               Turn* turn) {
  const std::string id = base::RandomHex(8);
  Words words = {"apply", directory_, id};
  if (turn->keeps()) words.push_back("keep");
  ports::RemoteCommand command{.command = remote::SyncCommand(std::move(words)),
                               .silence = kCopySilence};
  synced_->bytes += std::ssize(command.command);
  const std::int64_t before = synced_->hosts[row].bytes;
  command.pace = ReadArchive(archive, complete, [this, row](std::int64_t bytes) {
    synced_->bytes += bytes;
    synced_->hosts[row].bytes += bytes;
    on_bytes_(bytes);
  });
  Applied applied = co_await Apply(row, std::move(command), id);
  if (applied.kept && archive->changed().empty()) {
    applied.kept->bytes = synced_->hosts[row].bytes - before;
    turn->Kept(*applied.kept);
  }
  co_return applied;
}

Task<Result<bool>> SyncDelivery::Fetch(std::size_t row,
                                       std::shared_ptr<controller::FileRelay> relay, Turn* turn) {
  const Source from = *turn->from();
  const std::string id = base::RandomHex(8);
  const std::string& address = peers_[static_cast<std::size_t>(from.host)];
  Words words = {"apply", directory_, id,          "from",
                 address, from.id,    from.sha256, std::to_string(from.bytes)};
  ports::RemoteCommand command{.command = remote::SyncCommand(std::move(words)),
                               .silence = kCopySilence};
  synced_->bytes += std::ssize(command.command);
  Applied applied = co_await Apply(row, std::move(command), id);
  if (applied.code.ok() && *applied.code == remote::kSyncNotGiven) {
    turn->Refused();
    co_return false;
  }
  if (applied.kept) {
    kept_[row].push_back({.id = id, .relay = relay});
    applied.kept->bytes = from.bytes;
    turn->Kept(std::move(*applied.kept));
  }
  JM_CO_TRY(ApplyEnd(row, applied.code));
  synced_->hosts[row].relayed += from.bytes;
  on_bytes_(from.bytes);
  co_return true;
}

Task<SyncDelivery::Applied> SyncDelivery::Apply(std::size_t row, ports::RemoteCommand command,
                                                std::string id) {
  const ssh::FanOutHost& host = (*hosts_)[row];
  std::string answer;
  const ports::ByteSink out = [&answer](std::string_view bytes) -> base::Status {
    answer += bytes.substr(0, kMostApplyAnswer - answer.size());
    return base::Ok();
  };
  const ports::ByteSink err = talk_.SinkOf(host.host);
  Applied applied;
  applied.code = co_await shell_->Run(host.target, std::move(command), out, err);
  const std::string sha256 = KeptSha256(answer, id);
  if (!sha256.empty()) applied.kept = Source{.host = host.host, .id = id, .sha256 = sha256};
  co_return applied;
}

base::Status SyncDelivery::ApplyEnd(std::size_t row, const Result<int>& code) {
  if (code.ok() && *code == 0) return base::Ok();
  base::Error error = code.ok() ? CopyError(talk_.Of((*hosts_)[row].host), *code) : code.error();
  const bool begun = code.ok() ? *code == remote::kSyncPartly
                               : error.reason == base::Reason::kHostHangs ||
                                     error.reason == base::Reason::kConnectionBroke;
  if (error.reason == base::Reason::kDiskFull) error.hint = "free some space there, and sync again";
  if (begun) error.message += "; some files may be new already, each is whole";
  return error;
}

Task<void> SyncDelivery::ForgetOldest(std::size_t row) {
  auto& kept = kept_[row];
  if (kept.size() < kMostKept) co_return;
  kept.front().relay->Gone((*hosts_)[row].host);
  Words oldest = {kept.front().id};
  kept.pop_front();
  co_await Forget(row, std::move(oldest));
}

Task<bool> SyncDelivery::ForgetAll() {
  const auto executor = co_await asio::this_coro::executor;
  const base::CancelScope scope;
  const auto left = std::make_shared<std::size_t>(kept_.size());
  const auto done = std::make_shared<base::Waiters>();
  for (const auto& [row, kept] : kept_) {
    Words ids;
    for (const KeptArchive& one : kept) ids.push_back(one.id);
    base::Spawn(executor, scope, Forget(row, std::move(ids)), [left, done](bool /*cancelled*/) {
      if (--*left == 0) done->WakeAll();
    });
  }
  const auto deadline = std::chrono::steady_clock::now() + kForgetLimit;
  while (*left > 0 && std::chrono::steady_clock::now() < deadline) co_await done->Wait(deadline);
  co_return true;
}

Task<void> SyncDelivery::Forget(std::size_t row, Words ids) {
  if (ids.empty()) co_return;
  ids.insert(ids.begin(), {"forget", directory_});
  ports::RemoteCommand command{.command = remote::SyncCommand(std::move(ids)),
                               .limit = kForgetLimit};
  const ports::ByteSink nobody;
  [[maybe_unused]] const auto ended =
      co_await shell_->Run((*hosts_)[row].target, std::move(command), nobody, nobody);
}

std::string KeptSha256(std::string_view answer, const std::string& id) {
  constexpr std::size_t kDigits = 64;
  const std::string begin = "kept " + id + " ";
  const std::size_t at = answer.find(begin);
  if (at == std::string_view::npos) return "";
  const std::string_view sha256 = answer.substr(at + begin.size(), kDigits);
  const bool hex = sha256.size() == kDigits &&
                   sha256.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return hex ? std::string(sha256) : "";
}

}  // namespace jobman::client
