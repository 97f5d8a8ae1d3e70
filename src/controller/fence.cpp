#include "controller/fence.hpp"

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

class FencedSlices final : public ports::SliceApi {
 public:
  FencedSlices(std::shared_ptr<ports::SliceApi> inner, MayAct may)
      : inner_(std::move(inner)), may_(std::move(may)) {}

  Task<Result<core::OperationSeen>> Create(core::SliceRequest request) override {
    if (!may_()) co_return NotOurs();
    co_return co_await inner_->Create(std::move(request));
  }
  Task<Result<core::OperationSeen>> Delete(core::SliceRef ref) override {
    if (!may_()) co_return NotOurs();
    co_return co_await inner_->Delete(std::move(ref));
  }
  Task<Result<std::vector<core::NodeSeen>>> ListNodes(core::Place place) override {
    return inner_->ListNodes(std::move(place));
  }
  Task<Result<std::vector<core::QueuedSeen>>> ListQueued(core::Place place) override {
    return inner_->ListQueued(std::move(place));
  }
  Task<Result<core::NodeSeen>> GetNode(core::Place place, std::string id) override {
    return inner_->GetNode(std::move(place), std::move(id));
  }
  Task<Result<core::QueuedSeen>> GetQueued(core::Place place, std::string id) override {
    return inner_->GetQueued(std::move(place), std::move(id));
  }
  Task<Result<core::OperationSeen>> GetOperation(std::string name) override {
    return inner_->GetOperation(std::move(name));
  }
  Task<Result<std::vector<core::HostKeys>>> GetHostKeys(core::Place place,
                                                        std::string node) override {
    return inner_->GetHostKeys(std::move(place), std::move(node));
  }

 private:
  std::shared_ptr<ports::SliceApi> inner_;
  MayAct may_;
};

}  // namespace

std::shared_ptr<ports::SliceApi> FenceSlices(std::shared_ptr<ports::SliceApi> inner, MayAct may) {
  return std::make_shared<FencedSlices>(std::move(inner), std::move(may));
}

ports::ByteSink FencedShell::Fence(ports::ByteSink sink) const {
  if (!sink) return sink;
  return [sink = std::move(sink), may = may_](std::string_view bytes) -> base::Status {
    if (!may()) return NotOurs();
    return sink(bytes);
  };
}

Task<Result<int>> FencedShell::Run(ports::HostTarget target, ports::RemoteCommand command,
                                   ports::ByteSink out, ports::ByteSink err) {
  if (!may_()) co_return NotOurs();
  // Asked again once the connection stands: to make one takes its time.
  command.may_begin = [may = may_]() -> base::Status {
    if (!may()) return NotOurs();
    return base::Ok();
  };
  ports::ByteSink fenced_out = Fence(std::move(out));
  ports::ByteSink fenced_err = Fence(std::move(err));
  co_return co_await inner_->Run(std::move(target), std::move(command), std::move(fenced_out),
                                 std::move(fenced_err));
}

}  // namespace jobman::controller
