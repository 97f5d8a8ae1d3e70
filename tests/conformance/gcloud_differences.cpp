#include "tests/conformance/gcloud_differences.hpp"

// docs/fidelity.md has these tables in words.

namespace jobman::conformance {

std::vector<Explained> OfEveryCall() {
  return {
      {{"/query/alt"}, kAbsent, "json", {"*"}, "json is the default (document: parameters.alt)"},
      {{"/query/requestId"},
       "*",
       kAbsent,
       {"20", "21", "22", "23", "24", "25", "29", "30", "31"},
       "a repeated create or delete is one request to the service; derived from the request"},
      {{"/query/force"},
       "true",
       "True",
       {"30", "31"},
       "a boolean of proto3 JSON; True is Python's"},
      {{"/query/force"}, "true", kAbsent, {"29"}, "a slice is deleted with its nodes"},
      {{"/query/pageSize"}, kAbsent, "1", {"09"}, "the service's own size; every page is read"},
      {{"/path"}, "/v2/*", "/v2alpha1/*", {"05", "24"}, "v2 has all that this slice needs"},
      {{"/path"}, "/v2/*", "/v1/*", {"40"}, "gcloud's older group of commands calls v1"},
  };
}

std::vector<Explained> OfNodes() {
  const std::string scheduling = "/body/schedulingConfig/";
  const std::string default_value = "a default, which proto3 JSON leaves out";
  return {
      {{"/body/metadata"}, kAbsent, "null", {"01", "03", "04", "05"}, "an empty map says nothing"},
      {{scheduling + "preemptible"}, kAbsent, "false", {"01", "02", "04", "05"}, default_value},
      {{scheduling + "reserved"}, kAbsent, "false", {"01", "02", "03", "05"}, default_value},
      {{scheduling + "spot"}, kAbsent, "false", {"02", "03", "04"}, default_value},
      {{"/body/shieldedInstanceConfig/enableSecureBoot"},
       kAbsent,
       "false",
       {"01", "02", "03", "04", "05"},
       default_value},
      {{"/body/description", "/body/dataDisks/0/mode", "/body/dataDisks/0/sourceDisk"},
       kAbsent,
       "*",
       {"02"},
       "a job file has no key for these"},
      {{"/body/acceleratorConfig/type", "/body/acceleratorConfig/topology"},
       kAbsent,
       "*",
       {"04"},
       "tpu.accelerator names type and topology in one word"},
      {{"/body/acceleratorType"}, "v4-16", kAbsent, {"04"}, "that word"},
      {{"/body/autocheckpointEnabled"}, kAbsent, "false", {"05"}, "v2 has no such field"},
      {{scheduling + "provisioningModel"}, kAbsent, "SPOT", {"05"}, "v2 has no such field"},
      {{"/body/queryPath"}, "hostkeys/", kAbsent, {"16"}, "only the host keys are wanted"},
      {{"/body/workerIds"}, "null", kAbsent, {"16"}, "an empty list: all hosts"},
  };
}

std::vector<Explained> OfQueuedResources() {
  const std::string spec = "/body/tpu/nodeSpec/0/";
  const std::string policy = "/body/queueingPolicy/";
  return {
      {{spec + "node/metadata"},
       kAbsent,
       "null",
       {"20", "22", "23", "24", "25"},
       "an empty map says nothing"},
      {{spec + "node/serviceAccount"},
       kAbsent,
       "null",
       {"20", "21", "22", "23", "24", "25"},
       "an empty message: the default account, as without it"},
      {{spec + "nodeId"},
       "qr*",
       "qn*",
       {"20", "22", "23", "25"},
       "a node has the name of its queued resource, so that either is found by it"},
      {{spec + "multisliceParams/nodeIdPrefix"}, "qr2", "ms", {"21"}, "the same, of several nodes"},
      {{spec + "multisliceParams/nodeIdPrefix"}, "qr5", kAbsent, {"24"}, "said, not left to v2"},
      {{spec + "multisliceParams/nodeCount"}, "2", kAbsent, {"24"}, "its name in v2"},
      {{spec + "multiNodeParams/nodeCount"}, kAbsent, "2", {"24"}, "its name in v2alpha1"},
      {{spec + "node/autocheckpointEnabled"}, kAbsent, "false", {"24"}, "v2 has no such field"},
      {{spec + "node/autocheckpointEnabled"},
       kAbsent,
       "false",
       {"25"},
       "a default, which proto3 JSON leaves out"},
      {{"/body/provisioningModel"},
       kAbsent,
       "STANDARD",
       {"24"},
       "v2 has no such field; beside spot it is a mistake of gcloud's"},
      {{"/body/guaranteed"}, kAbsent, "null", {"22"}, "on demand is what neither tier says"},
      {{policy + "validInterval/startTime", policy + "validInterval/endTime"},
       kAbsent,
       "*",
       {"22"},
       "a job file has no earliest time, so there is no interval"},
      {{policy + "validUntilDuration"}, "7200s", kAbsent, {"22"}, "the end of it, as a duration"},
      {{"/body/reservationName"},
       "projects/p/locations/us-central2-b/reservations/-",
       "projects/p/locations/None/reservations/-",
       {"23"},
       "gcloud forgets the zone when no --zone is given"},
  };
}

std::vector<Explained> OfUpdates() {
  const std::string why = "gcloud sends the node that it read; jobman what the mask names";
  return {
      {{"/query/updateMask"}, "metadata", "metadata,labels", {"15"}, "the metadata is all it sets"},
      {{"/body/metadata/ssh-keys"}, "me:*", kAbsent, {"15"}, "a login, where gcloud was given k=v"},
      {{"/body/metadata/k", "/body/labels/x"}, kAbsent, "*", {"15"}, "see ssh-keys"},
      {{"/body/acceleratorType", "/body/apiVersion", "/body/createTime", "/body/health", "/body/id",
        "/body/name", "/body/networkConfig/enableExternalIps", "/body/networkConfig/network",
        "/body/networkEndpoints/0/accessConfig/externalIp", "/body/networkEndpoints/0/ipAddress",
        "/body/networkEndpoints/0/port", "/body/runtimeVersion",
        "/body/schedulingConfig/preemptible", "/body/schedulingConfig/reserved",
        "/body/schedulingConfig/spot", "/body/shieldedInstanceConfig/enableSecureBoot",
        "/body/state"},
       kAbsent,
       "*",
       {"15"},
       why},
  };
}

const std::map<std::string, std::string>& NotCompared() {
  static const std::map<std::string, std::string> kNotCompared = {
      {"13", "jobman does not stop nodes: it deletes what it does not need"},
      {"14", "nor starts them"},
      {"32", "jobman restarts hosts over ssh, which works without a queued resource too"},
      {"42", "gcloud lists zones through v1, which is before TPU VMs; jobman through v2"},
      {"43", "versions of TensorFlow are of v1, before TPU VMs"},
      {"45", "as 42"},
  };
  return kNotCompared;
}

}  // namespace jobman::conformance
