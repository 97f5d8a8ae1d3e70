#pragma once
#include <chrono>
#include <filesystem>
#include <random>

#include "jobman/base/clock.hpp"
#include "jobman/base/result.hpp"
