#include "jobman/controller/change_logins.hpp"

#include <algorithm>
#include <utility>

#include "jobman/controller/times.hpp"

namespace jobman::controller {
namespace {

base::Task<base::Status> ChangeAndWait(std::shared_ptr<ports::SliceApi> slices, core::Place place,
                                       std::string node, core::LoginChange change) {
  JM_CO_ASSIGN_OR_RETURN(core::OperationSeen operation,
                         co_await slices->ChangeLogins(place, node, change));
  base::Duration pause = kFirstLookAtOperation;
  while (!operation.done) {
    co_await base::Sleep(pause);
    pause = std::min(2 * pause, kLookAtOperation);
    JM_CO_ASSIGN_OR_RETURN(operation, co_await slices->GetOperation(operation.name));
  }
  if (operation.error) co_return *operation.error;
  co_return base::Ok();
}

}  // namespace

base::Task<base::Status> ChangeLogins(std::shared_ptr<ports::SliceApi> slices, core::Place place,
                                      std::string node, core::LoginChange change) {
  std::string what = "changing the metadata of node " + node;
  auto changed =
      ChangeAndWait(std::move(slices), std::move(place), std::move(node), std::move(change));
  co_return co_await base::WithTimeout(std::move(changed), kLoginChange, std::move(what));
}

}  // namespace jobman::controller
