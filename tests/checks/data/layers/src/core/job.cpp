#include "jobman/core/job.hpp"

#include "http/pool.hpp"
#include "jobman/base/absent.hpp"
#include "jobman/cli/app.hpp"
// #include "jobman/sim/x.hpp" is only a comment
