// Keys of the job file: the job as a whole, and the jobs of one file.
#include "config/schema/rows.hpp"

namespace jobman::config::schema {
namespace {

constexpr KeyRow kJobRows[] = {
    Key("job", T::kMap, "", "The job as a whole."),
    Key("job.name", T::kText, "the file's name",
        "Any text of one line; the names of slices are made from its letters and digits."),
    OrEmpty(Among(
        "job.env_type", T::kWord, "none|docker|conda|venv", "none",
        "Where the command runs; none is the host itself. Of these sections only the one named is "
        "read.")),
    Translated(
        Key("job.loop", T::kBool, "",
            "true: try again without limit until the command succeeds, after a preemption, a "
            "failure or a fault of the cloud; false: not after a preemption.")),
    OrEmpty(Translated(
        Key("job.remote_user", T::kText, "", "Login name on the hosts, unless ssh.user is set."))),
    Key("job.environment", T::kTextMap, "",
        "Environment variables of every setup step and of the command."),
    Key("job.worker_num", T::kText, "none",
        "Suffix of job.name and tpu.name, to tell jobs of one file apart: any text or number; auto "
        "is the smallest free number, also for a worker of a queue whose file does not say. No "
        "number of hosts."),
    Key("job.labels", T::kTextMap, "",
        "Labels of the job, to filter by in list and other commands."),
    ShortFor("do", Key("job.when_done", T::kMap, "keep",
                       "What becomes of the slice once the job is over: keep, delete, or a map.")),
    Among("job.when_done.do", T::kWord, "keep|delete", "keep",
          "delete: as soon as the job has succeeded or failed. A cancelled job keeps its slice."),
    Key("job.when_done.keep", T::kLimit, "without limit",
        "How long a job that is over, cancelled ones too, keeps its slice; then it is deleted."),
    Key("job.group", T::kText, "job.name, of the file",
        "Jobs that job.max_running counts together; the jobs of an array are one group."),
    Among("job.max_running", T::kNumber, "1-10000", "without limit",
          "How many jobs of the group are at work at a time; the others wait for their turn. "
          "A job that is over is not counted, though it may keep its slice: see job.when_done."),
    Key("job.queue", T::kMap, "",
        "The task queue that the job works off, in place of a command: it is a worker."),
    Key("job.queue.enabled", T::kBool, "false",
        "Whether it does: the job holds a slice and runs one task of the queue after the other."),
    Key("job.queue.config", T::kPath, "",
        "The queue file; it is read again when it changes. Without one, the tasks of task submit."),
    OrOne(ShortFor("run", Translated(Key("job.queue.prefix", T::kMaps, "",
                                         "Scripts that prepare the hosts before the first task: "
                                         "setup steps after those of setup.")))),
    Translated(Key("job.queue.prefix[].name", T::kText, "prefix-1, prefix-2, ...",
                   "Name of the step in logs and messages.")),
    Translated(Required("job.queue.prefix[].run", T::kText, "pip install -e .", "Shell script.")),
    Translated(Key("job.queue.prefix[].workers", T::kHosts, "0", "The hosts it runs on.")),
    Translated(Key("job.queue.prefix[].required", T::kBool, "false",
                   "Whether its failure fails the job.")),
    Key("job.queue.idle", T::kLimit, "never",
        "The slice is given back, and the job has succeeded, when there was no task for so long."),
    Ignored("job.id"),
    Ignored("job.user"),
    Ignored("job.dir"),

    Among(
        "array", T::kMap, "a list, or text", "",
        "Values, as a list, or as in 0-9 or a,b: the file makes a job for each, named NAME-INDEX. "
        "In the file ${array.value} stands for it, on the hosts JOBMAN_ARRAY_VALUE."),
    Among("array.index", T::kNumber, "0-999", "",
          "Of one job: which it is, from 0. On the hosts, JOBMAN_ARRAY_INDEX."),
    Among("array.size", T::kNumber, "1-1000", "",
          "Of one job: how many the file makes. On the hosts, JOBMAN_ARRAY_SIZE."),
    Key("array.value", T::kText, "", "Of one job: its value."),
    Among("matrix", T::kTextMap, "a map of lists or texts", "",
          "Names, each with values as in array: the file makes a job for each combination. In the "
          "file ${matrix.NAME} stands for a value, on the hosts the environment variable NAME."),
};

}  // namespace

std::span<const KeyRow> JobRows() {
  return kJobRows;
}

}  // namespace jobman::config::schema
