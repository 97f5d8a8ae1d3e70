void Store() {
  std::cout << "x";
  printf("x");
  ::fprintf(stderr, "x");
  fmt::print("x");
  std::exit(1);
  if (bad) exit(2);
  std::snprintf(buffer, 3, "printf(");  // std::cout
  process.exit(1);
  _exit(127);
}
