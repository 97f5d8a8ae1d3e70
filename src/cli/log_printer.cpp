#include "cli/log_printer.hpp"

#include <fmt/format.h>

namespace jobman::cli {

LogPrinter::LogPrinter(App& app, core::JobId job, bool one_host, bool announce)
    : app_(app), job_(job), one_host_(one_host), announce_(announce) {}

bool LogPrinter::Print(const client::LogStage& stage, int host, int host_count,
                       std::string_view bytes) {
  if (stage_ != stage) StartStage(stage, host_count);
  if (lines_) {
    lines_->Feed(host, bytes);
  } else {
    app_.terminal().OutBytes(bytes);
  }
  return app_.terminal().out_error() == 0;
}

void LogPrinter::Finish() {
  if (lines_) lines_->Finish();
}

void LogPrinter::StartStage(const client::LogStage& stage, int host_count) {
  Finish();
  stage_ = stage;
  lines_.reset();
  if (announce_ && app_.mode() == OutputMode::kText)
    app_.Say(fmt::format("== attempt {}, {}", stage.attempt, stage.name));
  ui::PrefixedOutput::Options options{.host_count = host_count,
                                      .split_carriage_returns = app_.terminal().facts().out_tty};
  if (app_.mode() == OutputMode::kJson) {
    lines_ = std::make_unique<ui::PrefixedOutput>(
        options, [this](int host, std::string_view line, bool) { PrintJsonLine(host, line); });
  } else if (!one_host_ && host_count > 1 && app_.mode() == OutputMode::kText) {
    lines_ = std::make_unique<ui::PrefixedOutput>(
        options, [this, host_count](int host, std::string_view line, bool continued) {
          PrintLine(ui::HostPrefix(host, host_count), host, line, continued);
        });
  }
}

void LogPrinter::PrintLine(std::string prefix, int host, std::string_view line, bool continued) {
  ui::Terminal& terminal = app_.terminal();
  if (continued) prefix[prefix.size() - 2] = '+';
  terminal.Out(ui::PaintHost(host, prefix, terminal.out_style()));
  terminal.OutBytes(line);
  if (!line.ends_with('\n')) terminal.OutBytes("\n");
}

void LogPrinter::PrintJsonLine(int host, std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  app_.ShowJsonLine({{"job", job_.value},
                     {"attempt", stage_->attempt},
                     {"stage", stage_->name},
                     {"host", host},
                     {"line", line}});
}

}  // namespace jobman::cli
