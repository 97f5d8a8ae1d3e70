#include "tests/unit/config/job_file_doc.hpp"

#include <fmt/format.h>

#include "jobman/config/schema.hpp"

namespace jobman::config::testing {
namespace {

constexpr std::string_view kIntroduction = R"(# The job file

<!-- Generated from the schema table, src/config/schema/; do not edit. To regenerate:
     JOBMAN_BLESS=1 ctest --preset dev -R unit_config -->

A job file is YAML; JSON is YAML too. `jobman init` writes one to start from. `jobman config check
FILE` reports what is wrong with one, `jobman config explain KEY` explains a key. `jobman config show
FILE` prints it with every default filled in; the output is itself a job file for the same job. With
`--origins` it shows where each value came from. `show --json` and the store use the same keys.

```yaml
job: {name: hello}
tpu: {accelerator: v4-32, zone: us-central2-b, pricing: spot}
command: {cmd: echo hello from host $JOBMAN_HOST_INDEX}
```

## Values

- A key without a value (null) is the same as no key, and so is a section with nothing but such keys. Where
  files of Python jobman have `''` for nothing (`tpu.flags`, `brevo_email`, `gcsfuse.cache`, ...), so is that.
- Of `docker`, `conda` and `venv` only the section that `job.env_type` names is read; there is a warning
  about the others.
- Unknown keys are errors; those that Python jobman added to its snapshot of a job are ignored. Keys marked
  *not yet* are planned: a file that uses one is refused.
- Durations look like `90s`, `15m` or `1h30m`; a bare number is seconds.
- Sizes look like `500K`, `100M` or `1G`, in powers of 1024; a bare number is bytes.
- Limits: 1 MiB for a job file, 256 KiB for a startup script, 128 KiB for a variable with its name.
- Hosts look like `all`, `3`, `"0,3-7"` or `[0, 3]`. Host numbers begin with 0.
- A path may begin with `~/`. A relative path is looked for in the folder of the file that contains it,
  then in the working folder, then at the root of the Git checkout around that.
- Where a key takes "text or a map", the text is short for a map with one key: `cloud: local` means
  `cloud: {endpoint: local}`, `no_output: 30m` means `no_output: {after: 30m}`. In `on`, a URL is short for
  `{post: URL}`, any other text for `{run: COMMAND}`.

## Interpolation

Any value may contain interpolations as in OmegaConf:

| written | means |
| --- | --- |
| `${tpu.accelerator}` | the value of another key; an interpolation that is the whole value keeps its type |
| `${.zone}`, `${..job.name}` | a key of the same map, of the map around it |
| `${oc.env:HOME}`, `${env:HOME}` | an environment variable of this machine; an error if it is not set |
| `${oc.env:STEPS,100}` | the same with a default |
| `${oc.select:tpu.name,x}` | a key, or a default if there is none |
| `${tpu.name}` | in the command, in setup steps and environment variables: the name of the slice that the attempt has; elsewhere the key |
| `${job.id}`, `${job.user}`, `${job.dir}`, `${tpu.num_workers}` | there too: the job's number in six digits, who created it, its folder on your machine, how many hosts the slice has |
| `${job.name}`, `${job.worker_num}` | keys as others; with `job.worker_num: auto` they are known when the job is created: what runs on the hosts gets the number, other keys do not |
| `\${HOME}` | `${HOME}` itself, for the shell on the hosts; `$HOME` needs no backslash |

## Where values come from

Later sources override earlier ones: the defaults below, `~/.config/jobman/config.yaml` (the same keys,
for every job; `JOBMAN_CONFIG` names another file), the job file, `--set key=value`, `--set-file key=path`,
`--array`, `--name` and `--endpoint`. Maps merge key by key, lists and scalars replace, and null removes a value.

With `--set`, a key of type text takes what follows `=` as it is, line breaks, `#` and quotes included; other
keys read it as YAML; nothing removes the value. `--set-file command.cmd=run.sh` takes the content of a file,
in which nothing is interpolated.

## Several jobs of one file

```yaml
job: {name: sweep, max_running: 2, when_done: delete}
matrix:
  lr: [0.1, 0.01]
  seed: 1-3
command:
  cmd: python train.py --lr ${matrix.lr} --seed $seed
```

This makes six jobs, `sweep-0` to `sweep-5`, one for each combination; the name that is written last varies
first. `array: [a, b]`, or `array: 0-9`, makes a job for each value. `jobman create FILE --array 0-9`, or
`--array lr=0.1,0.01 --array seed=1-3`, does it for any file. On the hosts each job knows which it is:
`JOBMAN_ARRAY_INDEX` (from 0), `JOBMAN_ARRAY_SIZE`, and `JOBMAN_ARRAY_VALUE`, or a variable for each name of
the matrix. A `job.name` that refers to the values, such as `lr${matrix.lr}`, gets no number. Everything else
is as with jobs of separate files: `jobman list 'sweep-*'`, `jobman delete 'sweep-*'`. At most 1000 jobs.

With `job.max_running` the others stay QUEUED and ask for no slice until it is their turn. It limits how many
work, not how many slices are held: a job that is over keeps its slice unless `job.when_done` gives it back.

## A slice for a time

```yaml
tpu: {accelerator: v6e-8, zone: us-east5-a, pricing: flex-start, max_run_duration: 8h}
command: {on_notice: {grace: 2m}}
```

The cloud lends such a slice for `tpu.max_run_duration` and then takes it away. `jobman why` says how much of the
time is left. `command.on_notice.grace` and half a minute before the end, but at most a tenth of the time before,
the command is told as of a preemption (`command.on_notice`); when it has ended, the slice is given back and the
job goes on with a new one. That costs `retries.preemption`, and in `history` it is called what it is: the run
duration. The time is reckoned from when the nodes were created, as the API that jobman looks with, v2, does not
show its end: it may begin later, but not earlier.

- `flex-start`: at most 7 days, through queued resources, for v5e and v6e in some zones; it counts against the
  quota of preemptible TPUs (Google's "Request Cloud TPUs using Flex-start"). Its price is not in jobman's list:
  `create` and `cost` show none.
- `reservation-bound`: of a reservation in calendar mode, which `tpu.reservation` must name (Google's "Consume a
  reservation"). It ends with the reservation, whose end jobman does not know.
- `max_run_duration` with another `tpu.pricing` is sent as it is. Whether the service grants it, and within which
  bounds, is not documented: it decides.

These requests go to Google's API v2alpha1, which may change without notice, and may want a project that was
admitted to it. All other calls, also those about such a slice, go to v2.

## A worker

```yaml
job:
  name: worker
  queue: {enabled: true, config: tasks.yaml, prefix: "pip install -r ~/requirements.txt", idle: 30m}
tpu: {accelerator: v4-32, zone: us-central2-b, pricing: spot}
```

A job with `job.queue` has no command. When its setup steps and the scripts of `prefix` are done it is IDLE, and
holds its slice until it is cancelled or, with `idle`, until there was no task for so long. It takes the
tasks of its accelerator and zone, one after the other, and reads the file again when it changes. The file, and the
commands for its tasks: [queue.md](queue.md).

## Keys

)";

std::string TableRow(const KeyRow& row) {
  const bool works = row.status != KeyStatus::kNotYet;
  return fmt::format("| `{}` | {} | {} | {}{} |\n", row.path, ValueText(row),
                     row.fallback.empty() ? "" : row.fallback, works ? "" : "*Not yet.* ",
                     row.about);
}

bool IsTopLevel(const KeyRow& row) {
  return row.path.find('.') == std::string_view::npos;
}

}  // namespace

std::string JobFileDoc() {
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

}  // namespace jobman::config::testing
