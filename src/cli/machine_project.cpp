#include "cli/machine_project.hpp"

#include <asio/io_context.hpp>

#include "jobman/auth/identity.hpp"
#include "jobman/http/curl_transport.hpp"

namespace jobman::cli {

std::optional<std::string> MachineProject() {
  const base::SystemClock clock;
  asio::io_context loop;
  auth::Machine machine{.clock = &clock};
  machine.open_transport = [&loop] { return http::MakeCurlTransport(loop.get_executor()); };
  return base::RunTask(loop, auth::ProjectOfMachine(std::move(machine)));
}

}  // namespace jobman::cli
