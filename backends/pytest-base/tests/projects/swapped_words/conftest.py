def pytest_report_teststatus(report):
    if report.when == "call":
        return report.outcome, "?", "FAILED" if report.passed else "PASSED"
