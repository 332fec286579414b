"""Values that the script takes from outside: kept by a recording, given back by a replay."""
