#pragma once
#include "jobman/core/job.hpp"
#include "http/pool.hpp"
