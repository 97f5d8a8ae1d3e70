#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "jobman/base/hash.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/notify/notifier.hpp"

namespace jobman::notify {
namespace {

constexpr std::size_t kLineLength = 76;  // RFC 2045, 6.8

/// "Sat, 21 Nov 2026 10:00:00 +0000", RFC 5322; in English whatever the user's locale.
std::string MailDate(base::TimePoint at) {
  static constexpr std::array<const char*, 7> kDays = {"Sun", "Mon", "Tue", "Wed",
                                                       "Thu", "Fri", "Sat"};
  static constexpr std::array<const char*, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t seconds = base::ToMillis(at) / 1000;
  std::tm parts = {};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} +0000",
                     kDays.at(static_cast<std::size_t>(parts.tm_wday)), parts.tm_mday,
                     kMonths.at(static_cast<std::size_t>(parts.tm_mon)), parts.tm_year + 1900,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

/// Encodes any text, including long lines and other alphabets, so that every server passes it on.
std::string Encoded(std::string_view text) {
  const std::string all = base::Base64(text);
  std::string lines;
  for (std::size_t at = 0; at < all.size(); at += kLineLength) {
    lines += all.substr(at, kLineLength) + "\r\n";
  }
  return lines;
}

/// RFC 2047, 2: a header in other alphabets consists of words of at most 75 characters, each of
/// whole characters.
std::string HeaderText(std::string_view text) {
  constexpr std::size_t kMost = 39;  // bytes of a word: "Subject: " and 64 characters on a line
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 128; };
  if (std::all_of(text.begin(), text.end(), is_ascii)) return std::string(text);
  std::string words;
  while (!text.empty()) {
    std::size_t end = std::min(kMost, text.size());
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    words += (words.empty() ? "=?utf-8?B?" : "\r\n =?utf-8?B?") +
             base::Base64(text.substr(0, end)) + "?=";
    text.remove_prefix(end);
  }
  return words;
}

std::string BodyOf(const ports::Message& message, const base::Json& event) {
  std::string text = base::GetString(event, "why") + "\n";
  for (const char* key :
       {"task", "task_run", "state", "attempt", "slice", "zone", "accelerator", "exit_code"}) {
    const base::Json& value = base::GetMember(event, key);
    if (value.is_null()) continue;
    text += fmt::format("\n{}: {}", key,
                        value.is_string() ? base::GetString(event, key) : value.dump());
  }
  return text + "\n\n" + message.body + "\n";
}

/// "failed"; of a task "task failed: lr1".
std::string EventWords(const std::string& name, const base::Json& event) {
  const std::string task = base::GetString(event, "task");
  return task.empty() ? name : base::ReplaceAll(name, "_", " ") + ": " + task;
}

}  // namespace

MailWords WordsOf(const ports::Message& message) {
  const auto parsed = base::ParseJson(message.body);
  const base::Json event = parsed.ok() ? *parsed : base::Json::object();
  return {.subject = fmt::format("jobman: {} ({}) {}", base::GetString(event, "name"),
                                 base::GetInt(event, "job"), EventWords(message.event, event)),
          .body = BodyOf(message, event)};
}

std::string MailText(const core::SmtpSpec& smtp, const core::HookSpec& hook,
                     const ports::Message& message, base::TimePoint at) {
  const MailWords words = WordsOf(message);
  std::string text;
  text += "From: " + smtp.from + "\r\n";
  text += "To: " + base::Join(hook.mail_to, ", ") + "\r\n";
  text += "Subject: " + HeaderText(words.subject) + "\r\n";
  text += "Date: " + MailDate(at) + "\r\n";
  // The same for a repeated mail, so that a mailbox may show it only once.
  text += "Message-ID: <" + message.event_id + "@jobman>\r\n";
  text += "X-Jobman-Event-Id: " + message.event_id + "\r\n";
  text += "MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n";
  text += "Content-Transfer-Encoding: base64\r\nAuto-Submitted: auto-generated\r\n\r\n";
  return text + Encoded(words.body);
}

}  // namespace jobman::notify
