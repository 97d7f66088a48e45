import pytest


@pytest.hookimpl(optionalhook=True)
def pytest_json_modifyreport(json_report):
    json_report["names"] = [test["nodeid"] for test in json_report.pop("tests", [])]
