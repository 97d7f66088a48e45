import pytest

NAMES = ["one\ntwo", "bad\nlines", "ends\n", "\nbegins", "empty\n\nline", "x\nPASSED [ 1/2]", "x"]


class Item(pytest.Item):
    def runtest(self):
        assert not self.name.startswith("bad")

    def repr_failure(self, excinfo):
        return "refused"  # without the frames of pytest itself

    def reportinfo(self):
        return self.fspath, 0, self.name


class File(pytest.File):
    def collect(self):
        return [Item.from_parent(self, name=name) for name in NAMES]


if hasattr(pytest, "version_tuple"):

    def pytest_collect_file(parent, file_path):
        if file_path.suffix == ".list":
            return File.from_parent(parent, path=file_path)

else:

    def pytest_collect_file(parent, path):
        if path.ext == ".list":
            return File.from_parent(parent, fspath=path)
