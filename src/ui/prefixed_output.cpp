#include "jobman/ui/prefixed_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace jobman::ui {

std::string HostPrefix(int host, int host_count, bool continued) {
  const std::size_t digits = std::to_string(std::max(host_count - 1, 0)).size();
  return fmt::format("host {:0{}} {} ", host, digits, continued ? '+' : '|');
}

PrefixedOutput::PrefixedOutput(Options options, Line line)
    : options_(options), line_(std::move(line)) {}

PrefixedOutput::PrefixedOutput(Options options, Out out)
    : PrefixedOutput(options, [count = options.host_count, out = std::move(out)](
                                  int host, std::string_view line, bool continued) {
        std::string text = HostPrefix(host, count, continued);
        text.append(line);
        if (line.empty() || line.back() != '\n') text += '\n';
        out(text);
      }) {}

void PrefixedOutput::Feed(int host, std::string_view bytes) {
  Pending& pending = PendingOf(host);
  while (!bytes.empty()) {
    // Bounded: takes no more than fits in a line of maximum length.
    const std::size_t room =
        options_.max_line + 1 - std::min(pending.text.size(), options_.max_line);
    const std::string_view taken = bytes.substr(0, room);
    pending.text.append(taken);
    bytes.remove_prefix(taken.size());
    std::string_view rest = pending.text;
    for (std::size_t end = LineEnd(rest); end > 0; end = LineEnd(rest)) {
      Emit(host, pending, rest.substr(0, end));
      pending.continued = false;
      rest.remove_prefix(end);
    }
    if (rest.size() > options_.max_line) {
      Emit(host, pending, rest);
      pending.continued = true;
      rest = {};
    }
    pending.text.erase(0, pending.text.size() - rest.size());
  }
}

void PrefixedOutput::Finish(int host) {
  Pending& pending = PendingOf(host);
  if (!pending.text.empty()) Emit(host, pending, pending.text);
  pending = {};
}

void PrefixedOutput::Finish() {
  for (std::size_t host = 0; host < pending_.size(); ++host) Finish(static_cast<int>(host));
}

PrefixedOutput::Pending& PrefixedOutput::PendingOf(int host) {
  const auto index = static_cast<std::size_t>(host);
  if (index >= pending_.size()) pending_.resize(index + 1);
  return pending_[index];
}

// Where the first line of `text` ends, including its line break; 0 if it is unfinished.
std::size_t PrefixedOutput::LineEnd(std::string_view text) const {
  const std::size_t feed = text.find('\n');
  const std::size_t end = feed == std::string_view::npos ? 0 : feed + 1;
  if (!options_.split_carriage_returns) return end;
  const std::size_t carriage = text.find('\r');
  // A carriage return at the very end may be the first half of "\r\n".
  if (carriage == std::string_view::npos || carriage + 1 == text.size()) return end;
  return text[carriage + 1] == '\n' ? end : carriage + 1;
}

void PrefixedOutput::Emit(int host, const Pending& pending, std::string_view line) {
  if (options_.split_carriage_returns && line.back() == '\r') line.remove_suffix(1);
  line_(host, line, pending.continued);
}

}  // namespace jobman::ui
