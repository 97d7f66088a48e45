def pytest_report_teststatus(report):
    if report.when == "call":
        return "good" if report.passed else "bad", "?", "PASSED"
