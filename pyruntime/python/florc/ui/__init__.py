"""`florc ui`: a page on this machine that shows runs and asks them."""
