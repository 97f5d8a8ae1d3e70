#include "controller/fence.hpp"

#include "jobman/ports/slice_api_decorator.hpp"

namespace jobman::controller {
namespace {

using base::Result;
using base::Task;

base::Error NotOurs() {
  return {.code = base::Code::kAborted,
          .message = "another controller has taken over",
          .reason = base::Reason::kLeaseLost,
          .hint = "`jobman controller status` shows which"};
}

base::Error NotCertain() {
  return {.code = base::Code::kAborted,
          .message = "the lease has expired, so the store must be asked who holds it",
          .reason = base::Reason::kLeaseLost};
}

Task<base::Status> MayBegin(LeaseGuard guard) {
  const bool may = co_await guard.may_act();
  if (!may) co_return NotOurs();
  co_return base::Ok();
}

using Begin = std::function<Task<base::Status>()>;

Task<base::Status> MayBeginAnd(LeaseGuard guard, Begin next) {
  JM_CO_TRY(co_await MayBegin(std::move(guard)));
  if (next) co_return co_await next();
  co_return base::Ok();
}

class FencedSlices final : public ports::SliceApiDecorator<FencedSlices> {
 public:
  FencedSlices(std::shared_ptr<ports::SliceApi> inner, LeaseGuard guard)
      : SliceApiDecorator(std::move(inner)), guard_(std::move(guard)) {}

  Task<Result<core::OperationSeen>> Create(core::SliceRequest request) override {
    JM_CO_TRY(co_await MayBegin(guard_));
    co_return co_await inner().Create(std::move(request));
  }
  Task<Result<core::OperationSeen>> Delete(core::SliceRef ref) override {
    JM_CO_TRY(co_await MayBegin(guard_));
    co_return co_await inner().Delete(std::move(ref));
  }
  Task<Result<core::OperationSeen>> AddLogin(core::Place place, std::string node,
                                             std::string line) override {
    JM_CO_TRY(co_await MayBegin(guard_));
    co_return co_await inner().AddLogin(std::move(place), std::move(node), std::move(line));
  }

  Task<Result<core::OperationSeen>> ChangeLogins(core::Place place, std::string node,
                                                 core::LoginChange change) override {
    JM_CO_TRY(co_await MayBegin(guard_));
    co_return co_await inner().ChangeLogins(std::move(place), std::move(node), std::move(change));
  }

 private:
  LeaseGuard guard_;
};

}  // namespace

std::shared_ptr<ports::SliceApi> FenceSlices(std::shared_ptr<ports::SliceApi> inner,
                                             LeaseGuard guard) {
  return std::make_shared<FencedSlices>(std::move(inner), std::move(guard));
}

ports::ByteSink FencedShell::Fence(ports::ByteSink sink) const {
  if (!sink) return sink;
  return [sink = std::move(sink), holds = guard_.holds](std::string_view bytes) -> base::Status {
    if (!holds()) return NotCertain();
    return sink(bytes);
  };
}

namespace {

Task<Result<int>> RunIfMay(ports::HostShell* inner, LeaseGuard guard, ports::SharedTarget target,
                           ports::RemoteCommand command, ports::ByteSink out, ports::ByteSink err) {
  JM_CO_TRY(co_await MayBegin(std::move(guard)));
  co_return co_await inner->Run(std::move(target), std::move(command), std::move(out),
                                std::move(err));
}

}  // namespace

// No coroutine while the lease holds by the clock: a thousand hosts are followed through here.
Task<Result<int>> FencedShell::Run(ports::SharedTarget target, ports::RemoteCommand command,
                                   ports::ByteSink out, ports::ByteSink err) {
  // Asked once connected, since connecting takes time.
  command.may_begin = [guard = guard_, next = std::move(command.may_begin)] {
    return MayBeginAnd(guard, next);
  };
  ports::ByteSink fenced_out = Fence(std::move(out));
  ports::ByteSink fenced_err = Fence(std::move(err));
  if (guard_.holds()) {
    return inner_->Run(std::move(target), std::move(command), std::move(fenced_out),
                       std::move(fenced_err));
  }
  return RunIfMay(inner_, guard_, std::move(target), std::move(command), std::move(fenced_out),
                  std::move(fenced_err));
}

}  // namespace jobman::controller
