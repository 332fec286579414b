"""The running script's side of a replay: what is restored, what is compared."""
