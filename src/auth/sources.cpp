#include <sys/stat.h>

#include <tuple>

#include "auth/no_token.hpp"
#include "jobman/auth/token_source.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/process.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/trusted.hpp"
#include "jobman/http/redact.hpp"

namespace jobman::auth {
namespace {

using base::Error;

class NoTokenSource final : public TokenSource {
 public:
  Task<Result<AccessToken>> Get() override { co_return AccessToken{}; }
  void Invalidate() override {}
};

class FixedTokenSource final : public TokenSource {
 public:
  FixedTokenSource(std::string token, std::string origin)
      : token_(std::move(token)), origin_(std::move(origin)) {}
  Task<Result<AccessToken>> Get() override { co_return ParseToken(token_, {}, origin_); }
  void Invalidate() override {}

 private:
  std::string token_;
  std::string origin_;
};

/// Shows whether a file was rewritten.
struct FileStamp {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = -1;
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

FileStamp StampOf(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return {};
  return {.device = info.st_dev,
          .inode = info.st_ino,
          .size = info.st_size,
          .seconds = info.st_mtim.tv_sec,
          .nanoseconds = info.st_mtim.tv_nsec};
}

/// When the file was written: expires_in counts from then.
TimePoint WrittenAt(const FileStamp& stamp) {
  return TimePoint{std::chrono::seconds{stamp.seconds}};
}

class FileTokenSource final : public TokenSource {
 public:
  FileTokenSource(std::string path, const base::Clock& clock)
      : path_(base::ExpandHome(path).string()), clock_(clock) {}

  Task<Result<AccessToken>> Get() override { co_return Read(); }
  void Invalidate() override {
    stamp_ = {};
    token_ = {};
  }

 private:
  Result<AccessToken> Read() {
    const FileStamp stamp = StampOf(path_);
    if (stamp.size < 0 || stamp != stamp_) {
      const auto trusted = base::CheckTrusted(path_, {"the token file", "check cloud.token_file"});
      if (!trusted) return NoToken(trusted.error().message, trusted.error().hint);
      auto text = base::ReadRegularFile(path_);
      if (!text) return Unreadable(text.error());
      auto token = ParseToken(*text, WrittenAt(stamp), "the token file " + path_);
      // A shell empties the file first, and gcloud takes half a second to fill it.
      const bool filling = base::Trim(*text).empty() && !token_.value.empty();
      if (!token && !filling) return std::move(token).error();
      if (token) {
        token_ = *std::move(token);
        stamp_ = stamp;
      }
    }
    if (token_.expires && *token_.expires <= clock_.Now()) {
      return NoToken(
          "the token in " + path_ + " expired at " + base::FormatRfc3339(*token_.expires),
          "write a new one: gcloud auth print-access-token > " + path_);
    }
    return token_;
  }

  static Error Unreadable(const Error& cause) {
    return NoToken("the token file cannot be read: " + cause.message, "check cloud.token_file");
  }

  std::string path_;
  const base::Clock& clock_;
  FileStamp stamp_ = {};
  AccessToken token_ = {};
};

class CommandTokenSource final : public TokenSource {
 public:
  CommandTokenSource(std::string command, const base::Clock& clock)
      : command_(std::move(command)), clock_(clock) {}

  Task<Result<AccessToken>> Get() override {
    const auto trusted =
        base::CheckTrustedCommand(command_, {}, {"the token command", "check cloud.token_command"});
    if (!trusted) co_return NoToken(trusted.error().message, trusted.error().hint);
    std::vector<std::string> argv = {"/bin/sh", "-c", command_};
    const TimePoint started = clock_.Now();
    auto running = base::RunProcess(std::move(argv));
    auto limited =
        base::WithTimeout(std::move(running), kLimit, "token command '" + command_ + "'");
    const auto ran = co_await std::move(limited);
    if (!ran) co_return Failed(ran.error().message, "");
    if (ran->exit_code != 0) {
      co_return Failed("exit code " + std::to_string(ran->exit_code), ran->err);
    }
    auto token = ParseToken(ran->out, started, "the token command '" + command_ + "'");
    if (!token && !base::Trim(ran->err).empty()) co_return Failed(token.error().message, ran->err);
    co_return token;
  }
  void Invalidate() override {}

 private:
  static constexpr base::Duration kLimit = std::chrono::seconds{60};

  Error Failed(const std::string& why, std::string_view stderr_text) const {
    // Redacted first: the cut might take the mark off a token.
    std::string said = http::RedactText(base::Trim(stderr_text));
    constexpr std::size_t kTail = 1000;
    if (said.size() > kTail) said = "..." + said.substr(said.size() - kTail);
    return NoToken(
        "the token command '" + command_ + "' failed: " + why + (said.empty() ? "" : ": " + said),
        "run it by hand; for gcloud, log in first: gcloud auth login");
  }

  std::string command_;
  const base::Clock& clock_;
};

}  // namespace

std::unique_ptr<TokenSource> MakeNoTokenSource() {
  return std::make_unique<NoTokenSource>();
}

std::unique_ptr<TokenSource> MakeFixedTokenSource(std::string token, std::string origin) {
  return std::make_unique<FixedTokenSource>(std::move(token), std::move(origin));
}

std::unique_ptr<TokenSource> MakeFileTokenSource(std::string path, const base::Clock& clock) {
  return std::make_unique<FileTokenSource>(std::move(path), clock);
}

std::unique_ptr<TokenSource> MakeCommandTokenSource(std::string command, const base::Clock& clock) {
  return std::make_unique<CommandTokenSource>(std::move(command), clock);
}

}  // namespace jobman::auth
