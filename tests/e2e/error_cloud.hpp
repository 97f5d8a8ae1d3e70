#pragma once

#include <map>
#include <string>

#include "jobman/base/json.hpp"
#include "tests/e2e/listener.hpp"

namespace jobman::test {

/// Which call an error answers. The others get what a cloud without troubles says.
enum class Met {
  kOffer,       ///< the lists of what a zone offers, which `create` asks for
  kCreate,      ///< the request for a slice
  kTaken,       ///< the same, by a cloud where the name is somebody else's
  kOperation,   ///< the operation of an accepted request
  kQueued,      ///< the state of the queued resource
  kList,        ///< the lists of nodes and queued resources
  kDelete,      ///< the delete of a slice that is being created
  kEverything,  ///< every call
};

/// An error of the Cloud TPU API as recorded, and the call that it answers.
struct Trouble {
  Met met = Met::kCreate;
  int http_status = 200;  ///< of the answer
  std::map<std::string, std::string> headers = {};
  base::Json body = {};  ///< a text is sent as it is
};

/// An API with a little memory that answers with recorded errors. Jobs tell it by their endpoint
/// which: it is EndpointOf() the name of a trouble.
class ErrorCloud {
 public:
  explicit ErrorCloud(std::map<std::string, Trouble> troubles);

  std::string EndpointOf(const std::string& trouble) const;
  /// "127.0.0.1:PORT".
  std::string address() const;
  /// All requests so far.
  std::vector<std::string> heard() const { return listener_.heard(); }

 private:
  struct Call;
  std::string Answer(const std::string& request);
  std::string AnswerWell(const Call& call);
  std::string Create(const Call& call);
  std::string Look(const Call& call);
  std::string Delete(const Call& call);

  std::map<std::string, Trouble> troubles_;
  /// By trouble and full name. Only the listener's thread uses it.
  std::map<std::string, std::map<std::string, base::Json>> resources_ = {};
  Listener listener_;
};

}  // namespace jobman::test
