#include "controller/file_sender.hpp"

#include <fmt/format.h>

#include <fstream>
#include <memory>
#include <utility>

#include "jobman/base/log.hpp"

namespace jobman::controller {
namespace {

using base::Result;
using base::Task;
using remote::RunStatus;

constexpr std::size_t kPiece = std::size_t{256} << 10;

base::Error Gone(const StageContext& context, const FileToSend& file) {
  return {.code = base::Code::kFailedPrecondition,
          .message = fmt::format("{}, the code of the job, is gone from this machine, and the host "
                                 "does not have it",
                                 file.path.string()),
          .hint = fmt::format("put it back and run: jobman resume {}; or create the job anew",
                              core::FormatJobId(context.job->id))};
}

Task<Result<RunStatus>> Ask(const StageContext* context, ports::SharedTarget target,
                            std::string name, Connected connected) {
  const remote::Call call = remote::HaveCall(name);
  const ports::ByteSink out;
  const HostCall asking{.shell = context->ports.shell,
                        .target = std::move(target),
                        .call = &call,
                        .out = &out,
                        .now = [context] { return context->Now(); },
                        .connected = std::move(connected)};
  co_return co_await CallHost(&asking);
}

/// Reads the next piece. The host tells whether all came as it should.
std::function<Result<std::string>()> PiecesOf(std::shared_ptr<std::ifstream> file, base::Path path,
                                              std::function<void()> contact) {
  return [file = std::move(file), path = std::move(path),
          contact = std::move(contact)]() -> Result<std::string> {
    contact();
    std::string piece(kPiece, '\0');
    file->read(piece.data(), static_cast<std::streamsize>(piece.size()));
    if (file->bad()) {
      return base::Error{.code = base::Code::kUnavailable,
                         .message = path.string() + " cannot be read"};
    }
    piece.resize(static_cast<std::size_t>(file->gcount()));
    return piece;
  };
}

Task<Result<RunStatus>> Put(const StageContext* context, ports::SharedTarget target,
                            FileToSend file, std::function<void()> contact) {
  const auto stream = std::make_shared<std::ifstream>(file.path, std::ios::binary);
  if (!*stream) co_return Gone(*context, file);
  ports::RemoteCommand command =
      CommandOf(remote::PutCall(file.name, file.bytes, file.sha256, file.replaces));
  command.next_input = PiecesOf(stream, file.path, std::move(contact));
  std::string talk;
  const ports::ByteSink out;
  const ports::ByteSink err = KeepIn(&talk);
  JM_CO_ASSIGN_OR_RETURN(const int code,
                         co_await context->ports.shell->Run(target, command, out, err));
  if (code == 0 || code == remote::kExitHostError) co_return remote::ParseStatus(talk);
  base::Error odd{.code = base::Code::kUnavailable,
                  .message = fmt::format("the host script ended with {}: {}", code, talk)};
  co_return odd;
}

FileRelay::Source KeptOn(const FileToSend& file) {
  return {.host = file.host, .id = file.name, .sha256 = file.sha256, .bytes = file.bytes};
}

bool HasIt(const Result<RunStatus>& answer) {
  return answer.ok() && answer->kind == RunStatus::Kind::kExited;
}

/// kAbsent: the other host did not give it.
Task<Result<RunStatus>> Fetch(const StageContext* context, ports::SharedTarget target,
                              const FileToSend* file, FileRelay::Source from) {
  const std::size_t host = static_cast<std::size_t>(from.host);
  const remote::FileGiver giver{.address = context->job->slice->hosts[host].internal,
                                .name = from.id};
  const remote::Call call =
      remote::FetchCall(file->name, file->bytes, file->sha256, file->replaces, giver);
  const ports::ByteSink out;
  const HostCall fetching{.shell = context->ports.shell,
                          .target = std::move(target),
                          .call = &call,
                          .out = &out,
                          .now = [context] { return context->Now(); }};
  co_return co_await CallHost(&fetching);
}

}  // namespace

Task<Result<RunStatus>> SendFile(const StageContext* context, ports::SharedTarget target,
                                 FileToSend file, std::function<void()> contact,
                                 Connected connected) {
  const auto relay = context->relay;
  auto known = co_await Ask(context, target, file.name, std::move(connected));
  if (HasIt(known)) relay->Has(KeptOn(file));
  if (!known.ok() || known->kind != RunStatus::Kind::kAbsent) co_return known;
  FileRelay::Turn way;
  if (file.relayed && IsRelayed(file.bytes)) way = co_await relay->Next();
  if (way.from()) {
    contact();
    auto fetched = co_await Fetch(context, target, &file, *way.from());
    if (HasIt(fetched)) way.Kept(KeptOn(file));
    const bool hangs = !fetched.ok() && fetched.error().reason == base::Reason::kHostHangs;
    if (!hangs && (!fetched.ok() || fetched->kind != RunStatus::Kind::kAbsent)) co_return fetched;
    base::Log(base::LogLevel::kInfo, "hosts", "job {}: host {} does not give the code to host {}",
              core::FormatJobId(context->job->id), way.from()->host, file.host);
    way.Refused();
    contact();
  }
  const auto gate = context->transfers;  // the context may die before this frame does
  const base::Gate::Pass turn = co_await gate->Enter();
  contact();
  // Hosts may share the folder, and another one may have got it meanwhile.
  Connected told;
  known = co_await Ask(context, target, file.name, std::move(told));
  if (HasIt(known)) way.Kept(KeptOn(file));
  if (!known.ok() || known->kind != RunStatus::Kind::kAbsent) co_return known;
  FileRelay::Source kept = KeptOn(file);
  auto sent = co_await Put(context, std::move(target), std::move(file), std::move(contact));
  if (HasIt(sent) && way.keeps()) {
    way.Kept(std::move(kept));
  } else if (HasIt(sent)) {
    relay->Has(std::move(kept));
  }
  co_return sent;
}

}  // namespace jobman::controller
