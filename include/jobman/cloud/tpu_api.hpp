#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "jobman/base/clock.hpp"
#include "jobman/cloud/tpu_json.hpp"
#include "jobman/http/transport.hpp"
#include "jobman/ports/slice_api.hpp"

namespace jobman::cloud {

using base::Task;

/// The Cloud TPU API over HTTP: v2, and v2alpha1 for what only that has. Each call of SliceApi is
/// one exchange, or one per page for a listing; nothing is retried here.
class TpuApi final : public ports::SliceApi, public ports::Catalog, public ports::Maintenance {
 public:
  /// `endpoint` is a base URL without a path: "https://tpu.googleapis.com".
  TpuApi(std::unique_ptr<http::Transport> transport, std::string endpoint,
         const base::Clock& clock);

  Task<Result<core::OperationSeen>> Create(core::SliceRequest request) override;
  Task<Result<core::OperationSeen>> Delete(core::SliceRef ref) override;
  Task<Result<std::vector<core::NodeSeen>>> ListNodes(core::Place place) override;
  Task<Result<std::vector<core::QueuedSeen>>> ListQueued(core::Place place) override;
  Task<Result<core::NodeSeen>> GetNode(core::Place place, std::string id) override;
  Task<Result<core::QueuedSeen>> GetQueued(core::Place place, std::string id) override;
  Task<Result<core::OperationSeen>> GetOperation(std::string name) override;
  Task<Result<core::OperationSeen>> AddLogin(core::Place place, std::string node,
                                             std::string line) override;
  Task<Result<core::OperationSeen>> ChangeLogins(core::Place place, std::string node,
                                                 core::LoginChange change) override;
  Task<Result<std::vector<core::HostKeys>>> GetHostKeys(core::Place place,
                                                        std::string node) override;
  Task<Result<std::map<int, std::string>>> GetVmNames(core::Place place, std::string node) override;

  Task<Result<std::vector<std::string>>> AcceleratorTypes(core::Place place) override;
  Task<Result<std::vector<std::string>>> RuntimeVersions(core::Place place) override;
  Task<Result<std::vector<std::string>>> Zones(std::string project) override;
  Task<Result<std::vector<core::ReservationSeen>>> Reservations(core::Place place) override;

  Task<Result<core::OperationSeen>> PerformMaintenance(core::Place place,
                                                       std::string node) override;
  Task<Result<core::OperationSeen>> PerformQueuedMaintenance(
      core::Place place, std::string queued, std::vector<std::string> nodes) override;

 private:
  /// The body of a 2xx response.
  Task<Result<std::string>> Send(WireCall call, core::Place place);
  /// The JSON object of a 2xx response.
  Task<Result<Json>> Call(WireCall call, core::Place place);
  Result<Json> ReadReply(const std::string& body, const std::string& doing) const;
  /// Takes one object of a listing; an error ends the listing.
  using Take = std::function<base::Status(const Json& item)>;
  /// Passes on the objects of `key`, page by page, so that only one page is in memory.
  Task<base::Status> ListAll(std::string path, std::string key, core::Place place, Take take);

  std::unique_ptr<http::Transport> transport_;
  std::string endpoint_;
  const base::Clock& clock_;
  /// Answered deletes by resource name. A delete after an answered one is a new request: the
  /// service must not return the old operation, which may have failed.
  std::map<std::string, int> deletes_ = {};
};

}  // namespace jobman::cloud
