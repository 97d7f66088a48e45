import time
import unittest


class Hang(unittest.TestCase):
    def test_a_before(self):
        pass

    def test_hangs(self):
        while True:
            time.sleep(60)
