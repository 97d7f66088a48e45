// No test in here.
