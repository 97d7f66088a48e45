import unittest


class Outcomes(unittest.TestCase):
    def test_passes(self):
        print("ok")

    def test_fails(self):
        self.assertEqual(1 + 1, 3)

    @unittest.skip("not here")
    def test_skipped(self):
        pass

    @unittest.expectedFailure
    def test_xfailed(self):
        self.fail("known")

    def test_é(self):
        for value in ("a b", "$(x)"):
            with self.subTest(value=value):
                self.assertTrue(value)


class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise RuntimeError("no class")

    def test_error(self):
        pass
