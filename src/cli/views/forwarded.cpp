#include "cli/views/forwarded.hpp"

#include <fmt/format.h>

namespace jobman::cli::views {

std::string LocalAddress(const client::ForwardedPort& port) {
  return fmt::format("127.0.0.1:{}", port.local);
}

std::string RenderText(const Forwards& view, const ui::Style& /*style*/) {
  std::string text;
  for (const client::ForwardedPort& port : view.ports) {
    text += fmt::format("{} -> host {} of job {}, port {}\n", LocalAddress(port), view.host,
                        core::FormatJobId(view.job), port.remote);
  }
  return text;
}

std::string RenderQuiet(const Forwards& view) {
  std::string text;
  for (const client::ForwardedPort& port : view.ports) text += LocalAddress(port) + "\n";
  return text;
}

base::OrderedJson ToJson(const Forwards& view) {
  base::OrderedJson ports = base::OrderedJson::array();
  for (const client::ForwardedPort& port : view.ports)
    ports.push_back({{"local", LocalAddress(port)}, {"port", port.remote}});
  base::OrderedJson json = {{"job", view.job.value}, {"host", view.host}, {"forwards", ports}};
  if (view.process != 0) json["process"] = view.process;
  return json;
}

}  // namespace jobman::cli::views
