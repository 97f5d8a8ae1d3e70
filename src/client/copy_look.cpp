#include "client/copy_look.hpp"

#include <memory>
#include <utility>

#include "client/copy_parts.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::client {
namespace {

constexpr std::size_t kLongestAnswer = 200;

}  // namespace

base::Status LookAnswer::Hear(std::string_view bytes) {
  for (const char c : bytes) {
    if (c == '\n') {
      Read(std::exchange(line_, {}));
    } else if (line_.size() < kLongestAnswer) {
      line_ += c;
    }
  }
  return base::Ok();
}

void LookAnswer::Read(const std::string& line) {
  if (!at_ && line.starts_with("at ")) {
    at_ = base::ParseNumber(std::string_view(line).substr(3));
    // At once: whoever waits for this host may go on to there.
    if (at_) input_->SkipTo(*at_);
  } else if (at_ && !hashed_ && line.starts_with("is ")) {
    hashed_ = true;
    input_->Verify(line.substr(3));
  }
}

base::Task<base::Result<int>> LookFirst::Run(ports::SharedTarget target,
                                             ports::RemoteCommand command, ports::ByteSink out,
                                             ports::ByteSink err) {
  LookAnswer answer(std::static_pointer_cast<ResumingInput>(command.pace));
  // It prints something all the time; one that does not hangs, and the others wait for it.
  ports::RemoteCommand look{.command = look_(target), .silence = kInputPatience};
  const ports::ByteSink hear = [&answer](std::string_view bytes) { return answer.Hear(bytes); };
  JM_CO_ASSIGN_OR_RETURN(const int code, co_await shell_->Run(target, std::move(look), hear, err));
  if (code != 0) co_return code;
  if (!answer.complete()) {
    base::Error silent{.code = base::Code::kFailedPrecondition,
                       .message = "it did not say how much of the copy it has",
                       .hint = "see what its shell does: jobman exec JOB -- true"};
    co_return silent;
  }
  co_return co_await shell_->Run(std::move(target), std::move(command), std::move(out),
                                 std::move(err));
}

}  // namespace jobman::client
