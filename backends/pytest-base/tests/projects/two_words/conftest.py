def pytest_report_teststatus(report):
    if report.when == "call":
        return report.outcome, "?", "SURELY " + report.outcome.upper()
