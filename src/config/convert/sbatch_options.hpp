#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace jobman::config::convert {

/// What becomes of an option of sbatch.
enum class Fate {
  kConverted,
  kPassedOver,  ///< it chooses among the machines or rules of a cluster
  kRefused,     ///< the job would not be what it was
};

struct SbatchOption {
  std::string_view name = {};                                           ///< "job-name"
  char letter = '\0';                                                   ///< 'J'; '\0': none
  enum class Takes { kNothing, kValue, kMaybe } takes = Takes::kValue;  ///< kMaybe: after "=" only
  Fate fate = Fate::kPassedOver;
  std::string_view why = {};  ///< why it is passed over, or what to do instead
};

/// The option called "--job-name", or "-J"; nullptr if there is none.
/// Source: sbatch(1) of Slurm 23.11.
const SbatchOption* FindSbatchOption(std::string_view name);
const SbatchOption* FindSbatchOption(char letter);
/// "--job-name" and all others.
std::vector<std::string> SbatchOptionNames();

}  // namespace jobman::config::convert
