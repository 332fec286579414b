"""What a crash leaves in the store, and what is read of it; whose a store is."""

from __future__ import annotations

from .mutation import FLORC, MATERIALIZE, RECORDER_FAULTS, STORE, add

FAULTS = "tests/faults/test_file_faults.py::"
ORDER = FAULTS + "test_bytes_are_durable_before_the_record_and_seeded_bugs_are_seen"
WHOLE = FAULTS + "test_small_files_are_written_whole"
TOLD = FAULTS + "test_what_could_not_be_kept_is_told"
TRUST = "tests/store/test_trust.py::"
KEEPING = "tests/store/test_housekeeping.py::"
COPY = "tests/store/test_mutations.py::test_the_journal"

add(
    "small files: written under their own name",
    STORE + "durable.rs",
    "let temporary = temporary_beside(path);",
    "let temporary = path.to_path_buf();",
    WHOLE,
)
add(
    "small files: not synced",
    STORE + "durable.rs",
    "            file.sync_all()\n        })\n",
    "            Ok(())\n        })\n",
    WHOLE,
)
add(
    "packs: written under their own name",
    STORE + "pack/write.rs",
    "let temporary = temporary_beside(&path);",
    "let temporary = path.clone();",
    ORDER,
)
add("packs: not synced", STORE + "pack/write.rs", "                file.get_ref().sync_all()?;\n", "", ORDER)
add(
    "large packs: not synced",
    STORE + "pack/direct.rs",
    "        self.file.sync_all()\n",
    "        Ok(())\n",
    "tests/store/test_large_packs.py::test_a_large_pack_is_durable_before_its_record",
)
add(
    "large packs: an error of the thread that writes is not told",
    STORE + "pack/direct.rs",
    "        self.cpu_s += ended?;\n",
    "        self.cpu_s += ended.unwrap_or_default();\n",
    "tests/store/test_large_packs.py::test_an_error_of_a_write_is_told",
)
add(
    "packs: their folder is not synced",
    STORE + "pack/write.rs",
    '        sync_dir(self.path.parent().unwrap_or(Path::new(".")))?;\n',
    "",
    ORDER,
)
add(
    "the journal's record before the packs are durable",
    MATERIALIZE + "commit.rs",
    """        let chunks = self.finish_pack(gathering, done)?;
        self.journal.append(CHECKPOINT, &record(header, &chunks, seq))?;
        self.journal.sync()
""",
    """        let chunks = gathering.chunks.clone();
        self.journal.append(CHECKPOINT, &record(header, &chunks, seq))?;
        self.journal.sync()?;
        self.finish_pack(gathering, done).map(|_| ())
""",
    ORDER,
)
add("the journal: not synced", STORE + "journal/write.rs", "self.file.sync_data()", "Ok::<(), io::Error>(())", ORDER)
add(
    "the journal: an error of writing is swallowed",
    STORE + "journal/write.rs",
    'Err(StoreError::io("write", &self.path)(error))',
    "Ok(())",
    RECORDER_FAULTS + "test_a_full_disk_costs_checkpoints_and_nothing_else",
    TOLD,
)
add(
    "the journal: an error of syncing is swallowed",
    STORE + "journal/write.rs",
    'return Err(StoreError::io("sync", &self.path)(error));',
    "let _ = error;",
    TOLD,
)
add(
    "packs: an error of syncing is swallowed",
    STORE + "pack/write.rs",
    "file.get_ref().sync_all()?;",
    "let _ = file.get_ref().sync_all();",
    TOLD,
)

add(
    "packs: the hash of a chunk is not checked",
    STORE + "pack/read.rs",
    "if found != entry.hash {",
    "if false {",
    RECORDER_FAULTS + "test_damage_is_named",
)
add(
    "packs: the hash of the index is not checked",
    STORE + "pack/read.rs",
    "if index_hash(&index) != trailer[8..40] {",
    "if false {",
    RECORDER_FAULTS + "test_damage_of_any_part_is_named",
)
add(
    "the journal: the chain of hashes is not checked",
    STORE + "journal/read.rs",
    "if chain != hash {",
    "if false {",
    RECORDER_FAULTS + "test_damage_of_any_part_is_named",
)
add(
    "the journal: the check of lengths is not looked at",
    STORE + "journal/read.rs",
    "if check != check_of(&self.chain, &lengths) {",
    "if false {",
    RECORDER_FAULTS + "test_damage_is_named",
)

add(
    "seals are not looked at",
    STORE + "journal/read.rs",
    "self.is_sealed &= seal == expected;",
    "let _ = (&seal, expected);",
    TRUST + "test_what_another_recorded_is_read_and_not_run",
)
add(
    "run.json counts",
    FLORC + "runs/described.py",
    '    return {**info, **told, "format": head.get("format", 1)}, ',
    "    return info, ",
    COPY + "_counts_and_not_its_copy",
)
add(
    "the journal of another run passes",
    FLORC + "runs/run.py",
    '    is_it = head.get("id") == run.id and head.get("rank", 0) == run.rank\n',
    "    is_it = True\n",
    COPY + "_of_another_run_is_refused",
)
add(
    "the source is not compared with its hash",
    FLORC + "runs/run.py",
    '        if entry["hash"] != _hash_of(data, len(entry["hash"]) // 2):\n',
    "        if False:\n",
    "tests/test_messages.py::test_a_damaged_source_is_no_edit",
)
add(
    "foreign runs are replayed",
    FLORC + "replay/session/opening.py",
    "        if not is_trusted:\n",
    "        if False:\n",
    "tests/store/test_trust.py",
)
add(
    "a foreign script may lie anywhere",
    FLORC + "replay/session/opening.py",
    "        foreign.refuse_elsewhere(run, path)\n",
    "        pass\n",
    TRUST + "test_trust_does_not_reach_beyond_the_project",
)
add(
    "os.system from a checkpoint",
    FLORC + "state/references.py",
    "        m.check_named(node[1], found)\n",
    "",
    TRUST + "test_trust_does_not_reach_beyond_the_project",
)
add(
    "any class may be pickled",
    FLORC + "state/reach.py",
    "    if handler not in ENCODERS[kind]:\n",
    "    if False:\n",
    TRUST + "test_trust_does_not_reach_beyond_the_project",
)
add(
    "control characters pass",
    FLORC + "support/console.py",
    'return char < " " or',
    "return False and",
    TRUST + "test_nothing_in_a_store_steers_the_terminal",
)
add(
    "gc looks at one journal",
    STORE + "needed.rs",
    "    for path in journals {\n",
    "    for path in journals.iter().take(1) {\n",
    KEEPING + "test_what_a_removed_run_shares_is_kept",
)
add(
    "gc removes a damaged pack that a run needs",
    STORE + "gc.rs",
    "let misses = !index.has_all(&needed);",
    "let misses = false;",
    KEEPING + "test_damage_that_no_run_needs_is_a_note",
)
add(
    "damage that a run needs is a note",
    STORE + "damage.rs",
    "is_needed: misses",
    "is_needed: false",
    KEEPING + "test_damage_that_no_run_needs_is_a_note",
)
add(
    "gc while a recording goes on",
    STORE + "gc.rs",
    "journals.iter().find(|path| is_written(path))",
    "journals.iter().find(|_| false)",
    KEEPING + "test_a_recording_in_progress_loses_nothing",
)
add(
    "shared packs: not synced",
    STORE + "pack/shared.rs",
    "            self.file.sync_data()?;\n",
    "",
    "tests/store/test_shared_packs.py::test_a_failed_sync_is_told",
)
add(
    "pieces: a chunk in several of them has the hash of its last part",
    MATERIALIZE + "pieces.rs",
    "                self.hasher.update(bytes);\n",
    "                self.hasher.reset().update(bytes);\n",
    "tests/store/test_pieces.py::test_what_arrives_in_pieces_comes_back",
)
add(
    "pieces: an extent of another checkpoint is given back",
    MATERIALIZE + "writer_link.rs",
    "        if self.in_pieces.front() == Some(&done.seq) {\n",
    "        if false {\n",
    "tests/store/test_pieces.py::test_what_arrives_in_pieces_comes_back",
)
add(
    "pieces: a quarter more memory than allowed",
    MATERIALIZE + "in_pieces.rs",
    "let most = link.space.usual() / AT_ONCE;",
    "let most = link.space.whole() / AT_ONCE;",
    "cargo:materialize::tests::a_piece_fits_into_the_usual_memory",
)
