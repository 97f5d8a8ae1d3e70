#pragma once
inline void Say() { std::cerr << 1; }
