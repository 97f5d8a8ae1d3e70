void Ui() { std::cout << 1; }
