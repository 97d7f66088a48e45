import pytest

pytest.importorskip("nothing_of_this_name")
