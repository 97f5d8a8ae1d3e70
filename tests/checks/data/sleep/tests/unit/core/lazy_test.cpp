void Lazy() {
  std::this_thread::sleep_for(1s);
  ::usleep(3);
  sleep(1);
  auto now = std::chrono::system_clock::now();
  Run("sleep 30");  // sleep(3)
  co_await base::Sleep(1s);
  auto fine = std::chrono::steady_clock::now();
}
