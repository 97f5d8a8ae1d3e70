#include "cli/log_printer.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "cli/views/words.hpp"
#include "jobman/ui/folding.hpp"

namespace jobman::cli {
namespace {

/// How long a line waits for other hosts to write it, too.
constexpr base::Duration kFoldFor = std::chrono::seconds{1};

/// As --since takes it. Blanks for a time that is not known.
std::string ClockText(const std::optional<base::TimePoint>& came) {
  return fmt::format("{:<20} ", came ? base::FormatDateTime(*came) + "Z" : "");
}

}  // namespace

LogPrinter::LogPrinter(App& app, core::JobId job, LogLook look, LineFilter filter)
    : app_(app), job_(job), look_(std::move(look)), filter_(std::move(filter)) {}

bool LogPrinter::Print(const client::LogStage& stage, int host, int host_count,
                       const client::LogPiece& piece) {
  if (stage_ != stage) StartStage(stage, host_count);
  came_[host] = piece.at;
  Pass(host, filter_.Take(host, piece.bytes));
  return app_.terminal().out_error() == 0;
}

void LogPrinter::Pass(int host, std::string_view bytes) {
  if (bytes.empty()) return;
  printed_ = true;
  if (!heading_.empty()) app_.terminal().Out(std::exchange(heading_, {}));
  if (lines_) return lines_->Feed(host, bytes);
  line_open_ = bytes.back() != '\n';
  app_.terminal().OutBytes(bytes);
}

void LogPrinter::Finish() {
  for (const auto& [host, rest] : filter_.Finish()) Pass(host, rest);
  if (lines_) lines_->Finish();
  if (folding_) folding_->Flush();
  const bool next_is_heading =
      look_.heading == StageHeading::kPrinted && app_.mode() == OutputMode::kText;
  if (std::exchange(line_open_, false) && next_is_heading) app_.terminal().Out("\n");
}

void LogPrinter::StartStage(const client::LogStage& stage, int host_count) {
  Finish();
  stage_ = stage;
  host_count_ = host_count;
  lines_.reset();
  folding_.reset();
  const bool text = app_.mode() == OutputMode::kText;
  const std::string heading = StageTitle(look_.label.title, stage);
  if (text && look_.heading == StageHeading::kTold) app_.Say(heading);
  heading_ = text && look_.heading == StageHeading::kPrinted ? heading + "\n" : "";
  names_hosts_ = text && !look_.one_host && host_count > 1;
  const bool json = app_.mode() == OutputMode::kJson;
  if (!json && !names_hosts_ && !look_.times && (!text || look_.label.prefix.empty())) return;
  const ui::PrefixedOutput::Options options{
      .host_count = host_count, .split_carriage_returns = app_.terminal().facts().out_tty};
  lines_ = std::make_unique<ui::PrefixedOutput>(
      options, [this, json](int host, std::string_view line, bool continued) {
        if (folding_) return folding_->Add(host, line, continued);
        json ? PrintJsonLine(host, line) : PrintLine(host, line, continued);
      });
  const bool several = !look_.one_host && host_count > 1;
  if (look_.fold && several) StartFolding();
}

void LogPrinter::StartFolding() {
  folding_ = std::make_unique<ui::LineFolding>(
      [this](const std::vector<int>& hosts, std::string_view line, bool continued) {
        PrintFoldedLine(hosts, line, continued);
      });
}

void LogPrinter::PrintFolded(base::TimePoint now) {
  if (!folding_ || folding_->empty()) return folded_since_.reset();
  if (!folded_since_) folded_since_ = now;
  if (now - *folded_since_ < kFoldFor) return;
  folding_->Flush();
  folded_since_.reset();
}

void LogPrinter::PrintFoldedLine(const std::vector<int>& hosts, std::string_view line,
                                 bool continued) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (app_.mode() == OutputMode::kJson) {
    return app_.ShowJsonLine({{"job", job_.value},
                              {"attempt", stage_->attempt},
                              {"stage", stage_->name},
                              {"hosts", hosts},
                              {"line", std::string(line)}});
  }
  ui::Terminal& terminal = app_.terminal();
  const std::string prefix =
      look_.label.prefix + ui::HostsLabel(hosts) + (continued ? " + " : " | ");
  const int colour = look_.label.prefix.empty() ? hosts.front() : look_.label.number;
  terminal.Out(ui::PaintHost(colour, prefix, terminal.out_style()));
  terminal.OutBytes(line);
  terminal.OutBytes("\n");
}

std::string LogPrinter::PrefixOf(int host, bool continued) const {
  const bool text = app_.mode() == OutputMode::kText;
  std::string prefix = text ? look_.label.prefix : "";
  if (names_hosts_) {
    prefix += ui::HostPrefix(host, host_count_, continued);
  } else if (!prefix.empty() || continued) {
    prefix += continued ? "+ " : "| ";
  }
  return prefix;
}

void LogPrinter::PrintLine(int host, std::string_view line, bool continued) {
  ui::Terminal& terminal = app_.terminal();
  const ui::Style style = terminal.out_style();
  if (look_.times) terminal.Out(ui::Paint(ui::Tone::kDim, ClockText(came_[host]), style));
  const std::string prefix = PrefixOf(host, continued);
  const int colour = look_.label.prefix.empty() ? host : look_.label.number;
  if (!prefix.empty()) terminal.Out(ui::PaintHost(colour, prefix, style));
  terminal.OutBytes(line);
  if (!line.ends_with('\n')) terminal.OutBytes("\n");
}

void LogPrinter::PrintJsonLine(int host, std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  base::OrderedJson json = {
      {"job", job_.value}, {"attempt", stage_->attempt}, {"stage", stage_->name}, {"host", host}};
  if (look_.times) json["at"] = views::TimeJson(came_[host]);
  json["line"] = std::string(line);
  app_.ShowJsonLine(json);
}

std::string StageTitle(const std::string& job, const client::LogStage& stage) {
  return fmt::format("== {}attempt {}, {}", job, stage.attempt, stage.name);
}

}  // namespace jobman::cli
