#include <fmt/format.h>

#include "config/check.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/config/schema.hpp"

namespace jobman::config {
namespace {

constexpr std::string_view kIntroduction = R"(# The job file

<!-- Made from the schema table, src/config/schema.cpp; do not edit by hand. To write it again:
     JOBMAN_BLESS=1 ctest --preset dev -R unit_config -->

A job file is YAML; JSON is YAML too. `jobman config check FILE` says what is wrong with one,
`jobman config show FILE` prints it with every default filled in and where each value came from,
`jobman config explain KEY` says what a key means, and `jobman init` writes a file to begin with.

```yaml
job: {name: hello}
tpu: {accelerator: v4-32, zone: us-central2-b, pricing: spot}
command: {cmd: echo hello from host $JOBMAN_HOST_INDEX}
```

## Values

- A key without a value (null) is as absent.
- Unknown keys are errors. Keys marked *not yet* are known, and refused by name.
- Durations are written `90s`, `15m`, `1h30m`; a bare number is seconds.
- A job file may have 1 MiB, a startup script 256 KiB, a variable with its name 128 KiB.
- Hosts are written `all`, `3`, `"0,3-7"` or `[0, 3]`. The first is number 0.
- A path may begin with `~/`; a relative one is relative to the folder of the file it stands in.

## Interpolation

As in OmegaConf, in every value:

| written | stands for |
| --- | --- |
| `${tpu.accelerator}` | the value of another key; a value that is nothing else keeps its type |
| `${.zone}`, `${..job.name}` | a key of the same map, of the map around it |
| `${oc.env:HOME}`, `${env:HOME}` | an environment variable of this machine; unset, it is an error |
| `${oc.env:STEPS,100}` | the same with a default |
| `${oc.select:tpu.name,x}` | a key, or a default where there is none |
| `\${HOME}` | `${HOME}` itself, for the shell on the hosts; `$HOME` needs no backslash |

## Where values come from

Later ones win: the defaults below, `~/.config/jobman/config.yaml` (same keys, for every job; another
file by `JOBMAN_CONFIG`), the job file, `--set key=value`, `--name` and `--endpoint`. Maps merge key by
key, lists and scalars replace, and null takes a value back.

## Keys

)";

std::string Indented(std::string_view path) {
  return fmt::format("`{}`", path);
}

std::string ValueText(const KeyRow& row) {
  if (row.type != Type::kWord) return std::string(TypeText(row.type));
  std::vector<std::string> words;
  for (const std::string_view list : {row.words, row.later}) {
    for (const std::string& word : base::Split(list, '|')) {
      if (word.empty()) continue;
      words.push_back(list.data() == row.later.data() ? word + " (not yet)" : word);
    }
  }
  return base::Join(words, ", ");
}

std::string TableRow(const KeyRow& row) {
  const bool works = row.status == KeyStatus::kWorks;
  return fmt::format("| {} | {} | {} | {}{} |\n", Indented(row.path), ValueText(row),
                     row.fallback.empty() ? "" : row.fallback, works ? "" : "*Not yet.* ",
                     row.about);
}

bool IsTopLevel(const KeyRow& row) {
  return row.path.find('.') == std::string_view::npos;
}

std::string Line(std::string_view label, std::string_view value) {
  return value.empty() ? "" : fmt::format("  {:<9}{}\n", label, value);
}

std::string Children(const KeyRow& parent) {
  std::string text;
  const std::string prefix = std::string(parent.path) + (parent.type == Type::kSteps ? "[]." : ".");
  for (const KeyRow& row : Schema()) {
    if (!row.path.starts_with(prefix)) continue;
    const bool works = row.status == KeyStatus::kWorks;
    text += fmt::format("  {:<24}{}{}\n", row.path.substr(prefix.size()), works ? "" : "(not yet) ",
                        row.about);
  }
  return text.empty() ? "" : "\nKeys:\n" + text;
}

std::string ListOfKeys() {
  std::string text;
  for (const KeyRow& row : Schema()) {
    const bool works = row.status == KeyStatus::kWorks;
    text += fmt::format("{:<26}{}{}\n", row.path, works ? "" : "(not yet) ", row.about);
  }
  return text;
}

}  // namespace

base::Result<std::string> ExplainKey(std::string_view path) {
  if (path.empty()) return ListOfKeys();
  const KeyRow* row = FindKey(path);
  if (row == nullptr) {
    const std::size_t dot = path.rfind('.');
    const bool nested = dot != std::string_view::npos;
    const std::string_view parent = nested ? path.substr(0, dot) : std::string_view{};
    return base::NotFound(fmt::format("no key \"{}\" in job files", path),
                          NearestKeyHint(parent, parent, nested ? path.substr(dot + 1) : path));
  }
  const bool works = row->status == KeyStatus::kWorks;
  return fmt::format("{}: {}\n", row->path, row->about) + Line("value", ValueText(*row)) +
         Line("default", row->fallback) + Line("status", works ? "works" : "not supported yet") +
         Line("since", works ? row->since : "") + Children(*row);
}

std::string SchemaMarkdown() {
  std::string text(kIntroduction);
  for (const KeyRow& row : Schema()) {
    if (IsTopLevel(row)) {
      text += fmt::format("{}### {}\n\n", text.ends_with("|\n") ? "\n" : "", row.path);
      text += "| key | value | default | |\n| --- | --- | --- | --- |\n";
    }
    text += TableRow(row);
  }
  return text;
}

}  // namespace jobman::config
