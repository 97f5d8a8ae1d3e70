#include "jobman/cloud/decorators.hpp"
#include "jobman/ports/slice_api_decorator.hpp"

namespace jobman::cloud {
namespace {

using base::Task;

class DryRunSliceApi final : public ports::SliceApiDecorator<DryRunSliceApi> {
 public:
  DryRunSliceApi(Inner inner, std::shared_ptr<Plan> plan)
      : SliceApiDecorator(std::move(inner)), plan_(std::move(plan)) {}

  Task<Result<core::OperationSeen>> Create(core::SliceRequest request) override {
    co_return Note(RenderCreate(request), request.ref.place);
  }
  Task<Result<core::OperationSeen>> Delete(core::SliceRef ref) override {
    co_return Note(RenderDelete(ref), ref.place);
  }

 private:
  core::OperationSeen Note(WireCall call, const core::Place& place) {
    plan_->push_back(std::move(call));
    return {
        .name = "projects/" + place.project + "/locations/" + place.zone + "/operations/dry-run",
        .done = true};
  }

  std::shared_ptr<Plan> plan_;
};

}  // namespace

Inner MakeDryRunSliceApi(Inner inner, std::shared_ptr<Plan> plan) {
  return std::make_unique<DryRunSliceApi>(std::move(inner), std::move(plan));
}

}  // namespace jobman::cloud
