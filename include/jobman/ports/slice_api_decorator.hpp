#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "jobman/ports/slice_api.hpp"

namespace jobman::ports {

/// What a decorator knows of a call.
struct CallInfo {
  std::string method = {};   ///< "GetNode"
  std::string subject = {};  ///< name or zone
  bool repeatable = true;    ///< safe to send again
};

/// A SliceApi in front of another one: passes every call on. A decorator overrides the calls that
/// it changes. One that does the same to all of them has an Around() of its own,
///   template <class T> Task<Result<T>> Around(CallInfo info, Send<T> send);
/// where each `send()` repeats the inner call. The object must outlive its coroutines.
template <class Self>
class SliceApiDecorator : public SliceApi {
 public:
  template <class T>
  using Send = std::function<Task<Result<T>>()>;

  explicit SliceApiDecorator(std::shared_ptr<SliceApi> inner) : inner_(std::move(inner)) {}

  Task<Result<core::OperationSeen>> Create(core::SliceRequest request) override {
    CallInfo info{.method = "Create", .subject = request.ref.name, .repeatable = false};
    return Do<core::OperationSeen>(std::move(info),
                                   [this, request] { return inner_->Create(request); });
  }
  Task<Result<core::OperationSeen>> Delete(core::SliceRef ref) override {
    CallInfo info{.method = "Delete", .subject = ref.name};
    return Do<core::OperationSeen>(std::move(info), [this, ref] { return inner_->Delete(ref); });
  }
  Task<Result<std::vector<core::NodeSeen>>> ListNodes(core::Place place) override {
    CallInfo info{.method = "ListNodes", .subject = place.zone};
    return Do<std::vector<core::NodeSeen>>(std::move(info),
                                           [this, place] { return inner_->ListNodes(place); });
  }
  Task<Result<std::vector<core::QueuedSeen>>> ListQueued(core::Place place) override {
    CallInfo info{.method = "ListQueued", .subject = place.zone};
    return Do<std::vector<core::QueuedSeen>>(std::move(info),
                                             [this, place] { return inner_->ListQueued(place); });
  }
  Task<Result<core::NodeSeen>> GetNode(core::Place place, std::string id) override {
    CallInfo info{.method = "GetNode", .subject = id};
    return Do<core::NodeSeen>(std::move(info),
                              [this, place, id] { return inner_->GetNode(place, id); });
  }
  Task<Result<core::QueuedSeen>> GetQueued(core::Place place, std::string id) override {
    CallInfo info{.method = "GetQueued", .subject = id};
    return Do<core::QueuedSeen>(std::move(info),
                                [this, place, id] { return inner_->GetQueued(place, id); });
  }
  Task<Result<core::OperationSeen>> GetOperation(std::string name) override {
    CallInfo info{.method = "GetOperation", .subject = name};
    return Do<core::OperationSeen>(std::move(info),
                                   [this, name] { return inner_->GetOperation(name); });
  }
  Task<Result<core::OperationSeen>> AddLogin(core::Place place, std::string node,
                                             std::string line) override {
    CallInfo info{.method = "AddLogin", .subject = node};
    return Do<core::OperationSeen>(
        std::move(info), [this, place, node, line] { return inner_->AddLogin(place, node, line); });
  }
  Task<Result<core::OperationSeen>> ChangeLogins(core::Place place, std::string node,
                                                 core::LoginChange change) override {
    CallInfo info{.method = "ChangeLogins", .subject = node};
    return Do<core::OperationSeen>(std::move(info), [this, place, node, change] {
      return inner_->ChangeLogins(place, node, change);
    });
  }
  Task<Result<std::vector<core::HostKeys>>> GetHostKeys(core::Place place,
                                                        std::string node) override {
    CallInfo info{.method = "GetHostKeys", .subject = node};
    return Do<std::vector<core::HostKeys>>(
        std::move(info), [this, place, node] { return inner_->GetHostKeys(place, node); });
  }
  Task<Result<std::map<int, std::string>>> GetVmNames(core::Place place,
                                                      std::string node) override {
    CallInfo info{.method = "GetVmNames", .subject = node};
    return Do<std::map<int, std::string>>(
        std::move(info), [this, place, node] { return inner_->GetVmNames(place, node); });
  }

 protected:
  SliceApi& inner() { return *inner_; }
  template <class T>
  Task<Result<T>> Around(CallInfo /*info*/, Send<T> send) {
    return send();
  }

 private:
  template <class T>
  Task<Result<T>> Do(CallInfo info, Send<T> send) {
    return static_cast<Self*>(this)->template Around<T>(std::move(info), std::move(send));
  }

  std::shared_ptr<SliceApi> inner_;
};

}  // namespace jobman::ports
