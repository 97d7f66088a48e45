import helper
