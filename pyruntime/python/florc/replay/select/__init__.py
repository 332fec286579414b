"""Which iterations a replay answers for, and what that takes."""
