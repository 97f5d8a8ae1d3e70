#include "cli/exec_output.hpp"

#include <utility>

#include "jobman/ui/text.hpp"

namespace jobman::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr auto kBetweenLines = std::chrono::milliseconds{100};

void PrintHostLine(ui::Terminal& terminal, const std::string& prefix, int host,
                   std::string_view line) {
  terminal.Out(ui::PaintHost(host, prefix, terminal.out_style()));
  terminal.OutBytes(line);
  if (!line.ends_with('\n')) terminal.OutBytes("\n");
}

}  // namespace

ExecOutput::ExecOutput(App& app, OutputPlace place, int host_count, std::size_t chosen)
    : app_(app),
      place_(std::move(place)),
      awaited_(chosen),
      raw_(app.mode() == OutputMode::kQuiet && chosen == 1),
      out_({.host_count = host_count, .split_carriage_returns = app.terminal().facts().out_tty},
           [&app, host_count](int host, std::string_view line, bool continued) {
             PrintHostLine(app.terminal(), ui::HostPrefix(host, host_count, continued), host, line);
           }),
      err_({.host_count = host_count, .split_carriage_returns = app.terminal().facts().err_screen},
           [&app](std::string_view line) { app.terminal().ErrBytes(line); }) {}

void ExecOutput::Connect(ssh::FanOutHost& host) {
  const int number = host.host;
  host.on_login = [this, number] { awaited_.LoggedIn(number, SteadyClock::now()); };
  host.out = [this, number](std::string_view bytes) { return Take(number, false, bytes); };
  host.err = [this, number](std::string_view bytes) { return Take(number, true, bytes); };
}

base::Status ExecOutput::Take(int host, bool err, std::string_view bytes) {
  // The line gives way to what the last silent host says.
  if (awaited_.Heard(host)) app_.terminal().SetStatus({});
  if (app_.mode() != OutputMode::kQuiet) (err ? odd_[host].err : odd_[host].out).Add(bytes);
  using Stream = client::OutFiles::Stream;
  if (place_.files) return place_.files->Append(host, err ? Stream::kErr : Stream::kOut, bytes);
  if (!place_.kept) return Print(host, err, bytes);
  facts_[host].Add(bytes);
  return place_.kept->Append(host, bytes);
}

base::Status ExecOutput::Print(int host, bool err, std::string_view bytes) {
  if (err) {
    if (raw_)
      app_.terminal().ErrBytes(bytes);
    else
      err_.Feed(host, bytes);
    return base::Ok();
  }
  if (raw_)
    app_.terminal().OutBytes(bytes);
  else
    out_.Feed(host, bytes);
  app_.terminal().Flush();  // as it comes
  written_ = true;
  return StillRead();
}

/// An error once nobody reads stdout: then the commands need not go on.
base::Status ExecOutput::StillRead() const {
  const int error = app_.terminal().out_error();
  if (error == 0) return base::Ok();
  return base::FromErrno(error, "writing to stdout");
}

void ExecOutput::WaitFor(const ssh::BusyHosts& busy, bool ended) {
  if (app_.mode() == OutputMode::kQuiet || !app_.terminal().facts().err_tty) return;
  const Time now = SteadyClock::now();
  if (ended && now < next_line_) return;
  next_line_ = now + kBetweenLines;
  // The reader of a pipe may still be about to show what it was given, on the same screen.
  const bool in_the_way = written_ && app_.terminal().facts().out_pipe;
  app_.terminal().SetStatus(in_the_way ? std::string{} : awaited_.Line(busy(), now));
}

void ExecOutput::Finish() {
  app_.terminal().SetStatus({});
  out_.Finish();
  err_.Finish();
  app_.terminal().Flush();
}

std::string ExecOutput::OddOf(int host, bool failed) const {
  const auto found = odd_.find(host);
  if (found == odd_.end()) return {};
  const auto& [out, err] = found->second;
  const auto first = [](std::string one, std::string other) { return one.empty() ? other : one; };
  std::string full = failed ? first(err.FullDisk(), out.FullDisk()) : "";
  return first(std::move(full), first(err.Words(), out.Words()));
}

std::map<int, ui::HostText> ExecOutput::Texts() const {
  std::map<int, ui::HostText> texts;
  for (const auto& [host, facts] : facts_) {
    texts[host] = {.facts = facts,
                   .read = [kept = place_.kept, number = host](const ui::TakePiece& take) {
                     return kept->Read(number, take);
                   }};
  }
  return texts;
}

}  // namespace jobman::cli
