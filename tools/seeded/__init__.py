"""The seeded bugs of tools/mutants.py: what is changed, and which tests should see it."""

from . import files, objects, ranks, recording, replaying, store, witness
from .mutation import MUTATIONS, Mutation

__all__ = ["MUTATIONS", "Mutation", "files", "objects", "ranks", "recording", "replaying", "store", "witness"]
