"""The process around the script, the same for record and replay."""
