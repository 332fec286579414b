"""What florc knows of libraries without importing them: facts in `libraries`, behaviour in one file a library."""
