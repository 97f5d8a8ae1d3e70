void Slow() { sleep(1); }
