import pytest


def pytest_collect_file(parent, file_path):
    if file_path.suffix == ".txt":
        return File.from_parent(parent, path=file_path)


class File(pytest.File):
    def collect(self):
        for name in ["plain", "with\nline end", "dotted.name", "x PASSED", "trail "]:
            yield Item.from_parent(self, name=name)


class Item(pytest.Item):
    def runtest(self):
        assert self.name != "with\nline end"

    def repr_failure(self, excinfo):
        return "refused"  # without the frames of pytest itself

    def reportinfo(self):
        return self.path, 0, self.name
