#pragma once
#include <thread>

#include "jobman/base/files.hpp"
