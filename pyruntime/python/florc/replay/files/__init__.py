"""The user's files, as a replay sees them."""
