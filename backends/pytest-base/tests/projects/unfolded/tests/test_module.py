import pytest

pytest.skip("not\nhere", allow_module_level=True)
