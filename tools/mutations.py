"""The seeded bugs of tools/mutants.py: what is changed, and which tests should see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, NoReturn

STORE = "pyruntime/src/store/"
MATERIALIZE = "pyruntime/src/materialize/"
FLORC = "pyruntime/python/florc/"
FAULTS = "tests/faults/test_file_faults.py::"
ORDER = FAULTS + "test_bytes_are_durable_before_the_record_and_seeded_bugs_are_seen"
WHOLE = FAULTS + "test_small_files_are_written_whole"
TOLD = FAULTS + "test_what_could_not_be_kept_is_told"
RECORDER = "tests/test_recorder.py::"
RECORDER_FAULTS = "tests/test_recorder_faults.py::"
CHECK = "tests/test_deferred_check.py::"
FORK = "tests/test_forked_checkpoints.py::"
STAGING = "tests/test_device_staging.py::"
JUMPS = "tests/replay/test_jumps.py::test_hard_cases"
MIDDLE = "tests/test_boundaries.py::"
TRUST = "tests/store/test_trust.py::"
KEEPING = "tests/store/test_housekeeping.py::"
COPY = "tests/store/test_mutations.py::test_the_journal"
LATER = "tests/replay/test_deferred_state.py::"
SMALL = "tests/replay/test_small_scripts.py::test_replay_prints_what_the_added_statements_would_have"


class Mutation(NamedTuple):
    """In `file`, `old`, which is there exactly once, becomes `new`. `tests`: of them at least one must fail."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def is_rust(self) -> bool:
        """Whether the extension has to be built again."""
        return self.file.endswith(".rs")

    def applied(self, text: str, fail: Callable[[str], NoReturn]) -> str:
        """The text of the file with the bug in it."""
        count = text.count(self.old)
        if count != 1:
            fail(f"{self.name}: its text is {count} times in {self.file}")
        return text.replace(self.old, self.new)


MUTATIONS: list[Mutation] = []


def add(name: str, file: str, old: str, new: str, *tests: str) -> None:
    """Add a mutation."""
    MUTATIONS.append(Mutation(name, file, old, new, tests))


# -- the store: what a crash leaves behind

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

# -- the store: what is read is what was written

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

# -- the processes

add(
    "SIGCHLD is ignored",
    MATERIALIZE + "child/process.rs",
    "    let pid = clone_silently()?;\n    if pid == 0 {\n        let outcome",
    "    // SAFETY: a seeded bug\n    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };\n"
    "    let pid = clone_silently()?;\n    if pid == 0 {\n        let outcome",
    RECORDER + "test_children_of_the_script_are_its_own",
)
add(
    "a fork of the script is not inert",
    MATERIALIZE + "recorder.rs",
    "self.abandoned.load(Ordering::Acquire) || pid() != self.owner",
    "self.abandoned.load(Ordering::Acquire)",
    RECORDER_FAULTS + "test_a_fork_of_the_script_is_inert",
)
add(
    "a child takes memory that processes share",
    FLORC + "record/forking.py",
    "if _is_shared(found.encoded.encoder.spans()):",
    "if False:",
    FORK + "test_memory_that_processes_share_is_not_left_to_a_child",
)
add(
    "a child lets torch copy",
    FLORC + "record/materializer.py",
    "may_copy=False), is_decided)",
    "may_copy=True), is_decided)",
    FORK + "test_torch_threads_in_the_parent_do_not_stop_the_child",
)

# -- staging

add(
    "staging keeps the address of CPU tensors",
    FLORC + "staging/staging.py",
    "if type(leaf) is not bytes:",
    "if type(leaf) is DeviceLeaf:",
    STAGING + "test_several_on_their_way_arrive_in_order_and_whole",
)
add(
    "a device is drained without waiting for the compute stream",
    FLORC + "staging/devices.py",
    "            self._side.wait_event(ready)\n",
    "",
    STAGING + "test_what_cuda_is_asked_for_and_in_which_order",
)
add(
    "a device without memory is not held",
    FLORC + "staging/staging.py",
    "events.append(device.drain(copies, hold=True))",
    "events.append(device.drain(copies, hold=False))",
    STAGING + "test_what_is_overwritten_after_end_is_kept_as_it_was",
)
add(
    "buffers are given back before the device is done",
    FLORC + "staging/staging.py",
    "        self._copying.append(Transfer(",
    "        self.pool.give(buffers)\n        self._copying.append(Transfer(",
    STAGING + "test_several_on_their_way_arrive_in_order_and_whole",
)

# -- recording

add(
    "lines are shifted",
    FLORC + "project/tree_positions.py",
    "node.lineno, node.col_offset = line, column",
    "node.lineno, node.col_offset = line + 1, column",
    "tests/test_positions.py::test_every_fixture_keeps_its_tree",
)
add(
    "lines are shifted in what runs",
    "pyruntime/src/project/line_table.rs",
    "= (at(line, start)?, at(end_line, end)?);",
    "= (at(line + 1, start)?, at(end_line + 1, end)?);",
    "tests/test_faithful.py::test_recorded_is_plain[raises half-way]",
)
add(
    "an altered tree is not noticed",
    FLORC + "project/tree_positions.py",
    "        raise Altered\n",
    "        pass\n",
    "tests/test_positions.py::test_an_altered_tree_is_noticed",
)
add(
    "the survey is switched off",
    FLORC + "record/blocks.py",
    "survey = self._survey(block, frame)",
    "survey = None",
    SMALL + "[functools_partial]",
    SMALL + "[mutable_default]",
    SMALL + "[callbacks_in_dict]",
)
add(
    "generators of random numbers are left out",
    FLORC + "state/encode.py",
    "random_state = generators.capture(encoder)",
    "random_state = []",
    "tests/state/test_arrays.py::test_global_generators",
)
add(
    "torch's generator is left out",
    FLORC + "state/generators.py",
    '        found.append(["torch", encode_torch(enc, torch.default_generator)])\n',
    "        pass\n",
    "tests/state/test_arrays.py::test_global_generators",
)

# -- replaying

add(
    "restore rebinds the memory of tensors",
    FLORC + "state/tensors.py",
    "                put(r, node, obj.detach(), is_apart=index not in r.shared, owner=obj)\n",
    "                obj.data = fresh(r, node, index)\n",
    "tests/state/test_tensors.py::test_identity_survives_shared_memory",
)
add(
    "restore makes new tensors",
    FLORC + "state/tensors.py",
    "        match_attributes(m, node[9], live.__dict__)\n        return True\n",
    "        match_attributes(m, node[9], live.__dict__)\n        return False\n",
    "tests/state/test_tensors.py::test_identity_survives_shared_memory",
)
add(
    "an owner of the memory of a tensor that waits is overlooked",
    FLORC + "state/deferred.py",
    "    held = sys.getrefcount(storage), weakref.getweakrefcount(storage)\n",
    "    held = 0, 0\n",
    LATER + "test_an_answer_is_what_a_plain_run_says[storage_alias]",
)
add(
    "a weak reference to a tensor that waits is overlooked",
    FLORC + "state/deferred.py",
    "    if weakref.getweakrefcount(tensor) or ",
    "    if ",
    LATER + "test_an_answer_is_what_a_plain_run_says[weak_alias]",
)
add(
    "another way to the state of an optimizer is overlooked",
    FLORC + "state/deferred.py",
    "    return _counts(attributes, of_parameter, key) == _counts(new, 0, 0)\n",
    "    return _counts(attributes, of_parameter, key)[2] == _counts(new, 0, 0)[2]\n",
    LATER + "test_an_answer_is_what_a_plain_run_says[default_alias]",
)
add(
    "another way to the attributes of an optimizer is overlooked",
    FLORC + "state/deferred.py",
    "if not self.guard.watch(optimizer) or not self._is_own(optimizer):",
    "if not self.guard.watch(optimizer):",
    LATER + "test_an_answer_is_what_a_plain_run_says[default_vars]",
)
add(
    "a tensor waits where the collector shows it",
    FLORC + "runs/versions.py",
    'r"\\b(?:gc|ctypes|',
    'r"\\b(?:ctypes|',
    LATER + "test_an_answer_is_what_a_plain_run_says[gc]",
)
add(
    "nobody notices who asks an optimizer for its attributes",
    FLORC + "state/guard.py",
    '        self._names["__dict__"] = _Attributes(self, self._own)\n',
    "",
    LATER + "test_an_answer_is_what_a_plain_run_says[vars]",
)
add(
    "a large chunk is put in place unchecked",
    STORE + "fill.rs",
    "        if hashes.get(&number) != Some(&one.hash) {\n            alone",
    "        if !hashes.contains_key(&number) {\n            alone",
    LATER + "test_damage_in_what_is_needed_is_found",
)
add(
    "generators of random numbers are not restored",
    FLORC + "state/restore.py",
    "        generators.set_globals(self, self.document[RANDOM])\n",
    "",
    "tests/state/test_arrays.py::test_global_generators",
)
add(
    "the deferred check compares no lines",
    FLORC + "replay/check.py",
    "in _native.diff_lines(ours, theirs):",
    "in ():",
    CHECK + "test_a_line_that_differs_is_told",
)
add(
    "the deferred check compares no states",
    FLORC + "replay/session/compare.py",
    "if hashes == checkpoint.chunks:",
    "if hashes:",
    CHECK + "test_a_state_that_differs_is_told",
)
add(
    "a jump takes one item too few",
    FLORC + "replay/session/session.py",
    "after(index, iterable, iterator)",
    "after(index - 1, iterable, iterator)",
    JUMPS,
)
add(
    "a jump leaves out the code that was changed",
    FLORC + "runs/versions.py",
    """        if self._has_changed:
            return "code outside""",
    """        if False:
            return "code outside""",
    MIDDLE + "test_a_changed_statement_is_not_jumped_over",
)
add(
    "a name that is dead at the start of an iteration keeps its object apart",
    FLORC + "replay/session/restore.py",
    "        lost |= set(loop.binds).difference(planned)\n",
    "",
    JUMPS,
)
add(
    "the name of an object is lost when one of its attributes is bound",
    FLORC + "plan/places.py",
    'taken = {place.name for place in held if "." not in place.name and not place.iterated}',
    'taken = {place.name.partition(".")[0] for place in held}',
    SMALL + "[other_name_of_an_object_bound_anew_in_each_epoch]",
)
add(
    "what is iterated over is no object that a block may refer to",
    FLORC + "plan/places.py",
    " and not place.iterated}",
    "}",
    SMALL + "[stores_what_it_iterates_over]",
)
add(
    "a while loop that runs again is taken for the one before",
    "pyruntime/src/nest/follow.rs",
    "        with_nest(|nest| nest.enter_loop(id));\n",
    "        let _ = id;\n",
    "tests/replay/test_jumps.py::test_a_while_loop_around_blocks_that_runs_again_is_another_one",
)

# -- added statements

add(
    "fork: the child binds names of the script",
    "pyruntime/src/python/forking.rs",
    "Some(&names), None)",
    "None, None)",
    FORK + "test_a_large_plain_state_replays_exactly[fork]",
)
add(
    "added statements: draws are not seen",
    FLORC + "replay/session/purity.py",
    "if state != found.get(name, state)]",
    "if False]",
    SMALL + "[draws]",
)
add(
    "added statements: nothing follows what they left",
    FLORC + "replay/session/purity.py",
    "        self.disturbances += self._pending\n",
    "",
    SMALL + "[evaluates_and_stays_so]",
)
add(
    "added statements: those side by side are looked at one by one",
    FLORC + "replay/session/purity.py",
    "and line > self._last",
    "and False",
    SMALL + "[evaluates_in_between]",
)
add(
    "unforeseen: iterators stand still",
    FLORC + "survey/readers.py",
    '    parts: Parts = {"(position)": _position(obj)}\n',
    "    parts: Parts = {}\n",
    SMALL + "[iterator_in_a_class_attribute]",
)

# -- what was added since

add(
    "added loops decide how recorded ones are replayed",
    "compiler/src/probes/compare.rs",
    "after.plans_as(options, &recorded)",
    "after.plans(options)",
    "tests/test_window.py::test_an_added_loop_changes_nothing_about_the_loop_around_it",
)
add(
    "names of lambdas are asked for",
    "compiler/src/effects/filter.rs",
    "self.extractor.project.scopes.text(self.entry.scope).mentions(name)",
    "!name.is_empty()",
    SMALL + "[names_of_lambdas_and_comprehensions]",
)
add(
    "loops of another length pass",
    FLORC + "replay/check.py",
    "        anomalies += _other_lengths(replay)\n",
    "        pass\n",
    "tests/test_user_files.py::test_data_that_is_shorter_now_is_told",
)
add(
    "sets: elements are taken in as they come",
    FLORC + "state/sets.py",
    "    keys = [*removed, *order]\n",
    "    keys = [*removed, *items]\n",
    "tests/state/test_sets.py",
)
add(
    "sets: removed elements leave no trace",
    FLORC + "state/sets.py",
    "    removed = [_Removed(slot + wanted.table) for slot in wanted.removed]\n",
    "    removed: list = []\n",
    "tests/state/test_sets.py",
)

# -- the user's files

VIEW = "tests/test_replay_view.py"
add(
    "user's files: a replay writes to them",
    FLORC + "replay/files/view.py",
    "        return self.upper + path\n",
    "        return path\n",
    "tests/test_user_files.py::test_a_killed_replay_changes_nothing",
)
add(
    "user's files: what the run made is there",
    FLORC + "replay/files/view.py",
    "            self._enter(path, Entry(GONE))\n",
    "            pass\n",
    VIEW,
)
add(
    "user's files: what was overwritten is not kept",
    FLORC + "record/files_noted.py",
    "            found.update(self._keep(real, keep))\n",
    "            pass\n",
    VIEW,
)
add(
    "user's files: what was appended to is whole",
    FLORC + "runs/found_files.py",
    "        return self._cut(whole, beside)\n",
    "        return whole\n",
    VIEW,
)
add(
    "user's files: skipped iterations wrote nothing",
    FLORC + "replay/files/view.py",
    "        return any(self._skipped.holds(place) for place in noted.places)\n",
    "        return False\n",
    VIEW + "::test_iterations_that_are_left_out_have_written_their_files",
)
add(
    "user's files: lists hold what is new",
    FLORC + "replay/files/view.py",
    "            listed = [name for name in listed if name in self._listed[path]]\n",
    "            pass\n",
    VIEW,
)
add(
    "user's files: what is lost is vouched for",
    FLORC + "replay/files/view.py",
    "        elif found.kind == LOST:\n",
    "        elif False:\n",
    VIEW + "::test_content_that_was_not_kept_is_not_vouched_for",
)
add(
    "user's files: native writers go unseen",
    FLORC + "replay/files/user_files.py",
    "        native_writers.adapt(self._functions.opens.native, readers=True)\n",
    "        pass\n",
    "tests/test_user_files.py::test_what_torch_saves",
)
add(
    "user's files: forked children have their own",
    FLORC + "replay/files/view.py",
    "        self._is_shared = True\n",
    "        self._is_shared = False\n",
    "tests/test_view.py",
)
add(
    "user's files: what added statements write goes to the view",
    FLORC + "replay/files/opens.py",
    "        if not self._functions.is_added():\n            return None\n",
    "        return None\n",
    "tests/test_user_files.py::test_what_added_statements_write_stays",
)
add(
    "user's files: a failing note is an error",
    FLORC + "record/files_noted.py",
    "            if not _is_own(error.__traceback__):",
    "            if True:",
    VIEW + "::test_a_note_that_fails_is_no_error",
)
add(
    "user's files: frames of the view are seen",
    "pyruntime/src/process/redirect.rs",
    ".map_err(|error| self.without_own_frames(py, error))",
    "",
    "tests/test_view.py",
)

# -- whose a store is, and what it consists of

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
    "    return {**info, **told}, ",
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
    STORE + "gc.rs",
    "    for path in &journals {\n",
    "    for path in journals.iter().take(1) {\n",
    KEEPING + "test_what_a_removed_run_shares_is_kept",
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

# -- what others hold, settings, hooks, gradients out of sight, generators

add(
    "holders: what somebody else holds is written to",
    FLORC + "state/alone.py",
    "    candidates = [number for number in alone if",
    "    candidates = [number for number in alone[:0] if",
    "tests/state/test_holders.py",
    SMALL + "[replaced_object_that_others_hold]",
)
add(
    "holders: memory that somebody else sees is written to",
    FLORC + "state/alone.py",
    "        if count(live.untyped_storage()._cdata) > _OF_MEMORY:\n",
    "        if False:\n",
    "tests/state/test_holders.py",
)
add(
    "holders: the memory of the last checkpoint is taken for that of the beginning",
    "pyruntime/src/encode/classes.rs",
    "        known.1 <= since\n",
    "        known.1 < now\n",
    "tests/state/test_holders.py::test_memory_counts_as_lone_unless_the_block_found_it",
)
add(
    "holders: names of added statements count",
    FLORC + "state/alone.py",
    "        if others and holders.added:\n",
    "        if False:\n",
    "tests/state/test_holders.py::test_names_of_added_statements_do_not_count",
)
add(
    "holders: what added statements name is taken to lie outside the state",
    FLORC + "replay/session/restore.py",
    "        lost |= added\n",
    "",
    SMALL + "[torch_holds_weights]",
)
add(
    "settings: no change is seen",
    FLORC + "survey/settings.py",
    "        if name in before and before[name] != value:\n",
    "        if False:\n",
    SMALL + "[setting_that_no_compiler_sees]",
)
add(
    "settings: what a file mentions is not read",
    FLORC + "survey/settings.py",
    "            _open.add(name)\n",
    "            pass\n",
    "tests/test_settings.py::test_what_libraries_change_is_read_where_a_file_mentions_it",
)
add(
    "hooks: others are not noticed",
    FLORC + "state/match.py",
    "        if live is not None and hooks.of_live(node, live) != recorded:\n",
    "        if False:\n",
    "tests/state/test_modules.py::test_hooks_stay",
)
add(
    "gradients: a closure computes none",
    "compiler/src/plan/gradients.rs",
    "        let mut found = is_function(scope)\n",
    "        let mut found = false && is_function(scope)\n",
    SMALL + "[torch_gradients_in_a_closure]",
)
add(
    "generators: children are not counted",
    FLORC + "state/generators.py",
    "*([] if seeds is None else [_seeds_text(seeds)])",
    "*[]",
    SMALL + "[numpy_spawned]",
)
add(
    "generators: a kept normal number is overlooked",
    FLORC + "adapters/twisters.py",
    "    return OfNumpy(found[:_BYTES], int.from_bytes(found[_BYTES:], sys.byteorder), has_gauss, gauss)\n",
    "    return OfNumpy(found[:_BYTES], int.from_bytes(found[_BYTES:], sys.byteorder), 0, gauss)\n",
    "tests/test_twisters.py::test_of_numpy",
)
add(
    "lambdas: what they print is the script's",
    "compiler/src/emit/lambdas.rs",
    "            if can_be_wrapped(body) && !is_written(body.range.start) {\n",
    "            if false && can_be_wrapped(body) && !is_written(body.range.start) {\n",
    SMALL + "[torch_hook_of_a_lambda]",
)
add(
    "marks: an added statement takes its neighbour with it",
    "compiler/src/emit/marks.rs",
    "        if let Some(next) = next.filter(|next| !is_marked(next)) {\n",
    "        if let Some(next) = next.filter(|next| false && !is_marked(next)) {\n",
    SMALL + "[shares_the_line_of_a_print]",
)
add(
    "calls: functions of the project count as a library's",
    "compiler/src/analysis.rs",
    "    is_alone && matches!(project.callee(scope, call), Callee::Library(_) | Callee::Method { .. })\n",
    "    is_alone && !matches!(project.callee(scope, call), Callee::Library(_) | Callee::Method { .. })\n",
    "tests/replay/test_trainers.py::test_answers_are_those_of_a_plain_run[sklearn_search]",
)
add(
    "handles: what is not known never changes",
    FLORC + "state/references.py",
    "    if not is_fixed(type(obj)):\n",
    "    if False:\n",
    "tests/state/test_handles.py::test_what_changed_is_put_back_or_refused",
)
add(
    "handles: what an object says is not compared",
    FLORC + "state/references.py",
    "        return is_same and (len(node) == 4 or node[4:] == told(live))\n",
    "        return is_same\n",
    "tests/state/test_handles.py::test_what_changed_is_put_back_or_refused",
)
add(
    "handles: the live booster stays",
    FLORC + "state/boosters.py",
    "        if pickled(obj) == data:\n",
    "        if True or pickled(obj) == data:\n",
    "tests/state/test_boosters.py::test_of_xgboost",
)
add(
    "pieces: a sample that is equal proves that a part is known",
    "pyruntime/src/materialize/large.rs",
    "        !self.samples.insert(sample(part)) || !self.any\n",
    "        self.samples.insert(sample(part)) && self.any\n",
    "cargo:materialize::large::tests::only_what_may_be_equal_is_hashed_first",
)

# -- ranks, children, iterators

RANKS = "tests/replay/test_ranks.py::"
add(
    "ranks: each restores what it kept itself",
    FLORC + "runs/joint.py",
    "        if all(key in history.checkpoints or block not in known for history, known in zip(together, begun))\n",
    "        if any(key in history.checkpoints or block not in known for history, known in zip(together, begun))\n",
    RANKS + "test_a_rank_that_keeps_less_decides_for_all",
)
add(
    "ranks: the reducer keeps its first buckets",
    FLORC + "state/ddp.py",
    "        if node[7] and has_first:\n",
    "        if False:\n",
    RANKS + "test_ddp_adds_up_in_the_buckets_of_the_record",
)
add(
    "ranks: each has a view of its own",
    FLORC + "replay/process.py",
    "            attempt.task.files if isinstance(attempt.task, RankTask) else None,\n",
    "            None,\n",
    RANKS + "test_a_file_that_one_rank_writes_is_read_by_the_others",
)
add(
    "ranks: one that was killed ends the record for itself only",
    FLORC + "runs/journal.py",
    "        return any(history._is_beyond(path, reached) for history in self.together)\n",
    "        return self._is_beyond(path, reached)\n",
    RANKS + "test_what_a_rank_did_after_another_was_killed_is_not_answered",
)
add(
    "children: a child that ends starts the replay again",
    FLORC + "replay/process.py",
    "        if os.getpid() != self._process:  # a child that the script forked, and that came to the end of the script\n",
    "        if False:\n",
    "tests/test_children.py::test_a_child_that_comes_to_the_end_of_the_script_is_no_replay",
)
add(
    "iterators: one begins anew",
    FLORC + "state/positions.py",
    "        r.last(lambda: _move(made, node[2]))\n",
    "        r.last(lambda: _move(made, 0))\n",
    "tests/state/test_iterators.py::test_an_iterator_of_pythons_own_is_moved_in_place",
)
add(
    "iterators: a sampler draws nothing at its end",
    FLORC + "state/positions.py",
    "    if generator is not None:  # whether or not anything is left to be drawn\n",
    "    if False:\n",
    "tests/state/test_iterators.py::test_samplers_go_on_with_what_they_drew",
)
add(
    "iterators: a generator may call what it likes",
    FLORC + "state/suspended.py",
    "return _CALLED.issuperset(code.co_names) and ",
    "return ",
    "tests/replay/test_steps.py::test_an_iterator_that_cannot_be_restored_is_missed_only_where_it_is_used",
)
NOTEBOOKS = "tests/replay/test_notebooks.py::"
SPAWNED = "tests/replay/test_spawned.py::"
add(
    "notebooks: every expression of a cell is shown",
    "compiler/src/project/cell.rs",
    "    (!behind.trim_start().starts_with(';')).then_some(last.range)\n",
    "    behind.is_ascii().then_some(last.range)\n",
    NOTEBOOKS + "test_what_a_cell_ends_with_is_shown",
)
add(
    "notebooks: a value that is not shown any more is missed",
    FLORC + "runs/versions.py",
    "        return self._no_longer_shown | {\n",
    "        return {\n",
    NOTEBOOKS + "test_a_line_below_what_a_cell_ended_with_is_an_answer",
)
add(
    "notebooks: lines are those of the program",
    FLORC + "support/console.py",
    "    return number, line - heads[number - 1]\n",
    "    return number, line\n",
    NOTEBOOKS + "test_a_probe_in_a_cell_is_answered",
)
add(
    "notebooks: they run where the command was typed",
    FLORC + "project/script.py",
    "        os.chdir(os.path.dirname(script.path))\n",
    "        pass\n",
    NOTEBOOKS + "test_a_probe_in_a_cell_is_answered",
)
add(
    "spawned: what shares something with the script is replayed all the same",
    FLORC + "process/spawned.py",
    "    on_payload(data if is_alone else None)\n",
    "    on_payload(data if is_alone or data else None)\n",
    SPAWNED + "test_ranks_that_share_something_with_the_script_are_flagged",
)
add(
    "spawned: calls are known by their number alone",
    FLORC + "process/spawned.py",
    "        number = self._calls[path] = self._calls.get(path, -1) + 1\n",
    "        number = self._calls[path] = 0\n        path = ''\n",
    SPAWNED + "test_each_call_has_its_own_ranks",
)
add(
    "spawned: what ranks find is no part of the answer",
    FLORC + "replay/process.py",
    "._replace(lost_seconds=self._lost_s).followed_by(self._spawned.found)\n",
    "._replace(lost_seconds=self._lost_s)\n",
    SPAWNED + "test_ranks_of_the_script_are_restored_and_answer",
)
add(
    "speeds: a slow restore is taken again and again",
    FLORC + "replay/session/speeds.py",
    "        return WHY\n",
    "        return None\n",
    "tests/replay/test_speeds.py::test_a_deque_of_many_small_tensors_is_run_again_when_that_is_faster",
)
add(
    "counters: one that is further here is said to be where it was",
    FLORC + "state/counting.py",
    "    return steps if rest == 0 and 0 <= steps <= _MOST else None\n",
    "    return max(0, steps) if rest == 0 else None\n",
    "tests/state/test_iterators.py::test_a_counter_is_moved_forward_in_place",
)
add(
    "tools: the project of pytest is its own folder",
    FLORC + "project/territory.py",
    "            root = _root_of(here) if root == beside and here not in (_home(), os.path.sep) else root\n",
    "            root = beside\n",
    "tests/test_tools.py::test_pytest_is_recorded_and_asked",
)
add(
    "spawned: ranks that are not started again are not missed",
    FLORC + "replay/process.py",
    "            replay.comparer.differences.extend(self._spawned.missing())\n",
    "            self._spawned.missing()\n",
    SPAWNED + "test_ranks_that_are_not_started_again_are_missed",
)
LAPSE = "tests/replay/test_steps.py::"
add(
    "lapsed: an iterator that somebody else holds lapses, too",
    FLORC + "state/lapsed.py",
    "    return sys.getrefcount(obj) - _OWN <= of_script + of_florc\n",
    "    return True\n",
    LAPSE + "test_what_somebody_else_holds_does_not_lapse",
)
add(
    "lapsed: asking its class for something is not noticed",
    FLORC + "state/lapsed.py",
    "    def __getattribute__(cls, name: str) -> Any:\n        _of_class(name)\n",
    "    def __getattribute__(cls, name: str) -> Any:\n        return type.__getattribute__(cls, name)\n",
    LAPSE + "test_each_use_of_it_is_noticed",
)
add(
    "lapsed: what is foreseen to be used is restored all the same",
    FLORC + "runs/versions.py",
    "        return _MOVES if why is None and self.lapsed.is_missed(key) else why\n",
    "        return why\n",
    LAPSE + "test_an_iterator_that_cannot_be_restored_is_missed_only_where_it_is_used",
)
add(
    "spawned: calls that ran without florc are not told of",
    FLORC + "replay/parallel/spawned.py",
    '        return [f"{name}: {why}" for name in dict.fromkeys(self._plain)]\n',
    "        return []\n",
    SPAWNED + "test_answers_of_ranks_that_failed_are_missed",
)
add(
    "ranks: attempts before a restart are not told of",
    FLORC + "process/launcher.py",
    "    return int(times) if times.isdecimal() else 0\n",
    "    return 0\n",
    "tests/replay/test_ranks.py::test_attempts_before_a_restart_are_told_of",
)
add(
    "record: a file that the script's imports lead to later is not kept",
    FLORC + "record/session.py",
    '        if self.project.text(file) != text or file not in self.run.info.get("sources", ()):\n',
    "        if self.project.text(file) != text:\n",
    SPAWNED + "test_a_statement_in_another_module_that_only_ranks_run_is_answered",
)
add(
    "writers: the file in which ranks meet is written past the replay",
    FLORC + "process/native_writers.py",
    '    Writer("torch.distributed.rendezvous", "FileStore.__init__", 1, "file_name"),\n',
    "",
    SPAWNED + "test_the_file_in_which_ranks_meet_stays_as_it_is",
)
add(
    "survey: methods with two underscores hold nothing",
    "pyruntime/src/survey/parts.rs",
    "&& !is_callable_of_class(&part);",
    ";",
    "tests/test_hidden.py::test_what_a_call_hides_is_right",
)
add(
    "unforeseen: a cache is kept whole",
    FLORC + "survey/survey.py",
    "        return (module_of(kind), name_of(kind)) in _KEPT_WHOLE_OF_LIBRARIES\n",
    "        return True\n",
    "tests/replay/test_small_scripts.py::test_replay_prints_what_the_added_statements_would_have",
)
add(
    "unforeseen: what takes another object is not bound",
    FLORC + "replay/session/restore.py",
    "            if name in values and values[name] is not there.get(name):\n",
    "            if False:\n",
    "tests/test_unforeseen.py::test_what_is_seen_to_change_is_restored",
)
add(
    "lapsed: what an iterator's end does is not missed",
    FLORC + "record/checkpoint.py",
    '        if why:\n            raise NotKept(f"an iterator',
    '        if False:\n            raise NotKept(f"an iterator',
    LAPSE + "test_what_dropping_one_does_is_done",
)
add(
    "lapsed: the end of a generator is never noticed",
    FLORC + "state/ends.py",
    "        if at is None:\n            return True\n",
    "        if at is None:\n            return False\n",
    "tests/state/test_ends.py",
)
add(
    "plan: what next() runs writes to no file",
    "compiler/src/effects/filter.rs",
    "writes |= effect.assumed || matches!(effect.kind, EffectKind::Writes | EffectKind::Consume);",
    "writes |= effect.kind == EffectKind::Writes;",
    "tests/test_hidden.py::test_a_file_that_a_hidden_call_writes_to_is_no_exact_answer",
)
add(
    "spawned: the script finds what its ranks left, not what they wrote",
    FLORC + "replay/files/view.py",
    "                where = tree + path if is_really_there(tree + path) else path\n",
    "                where = path\n",
    SPAWNED + "test_each_version_of_a_file_that_ranks_overwrite_is_found",
)
add(
    "proof: the block is inside another one that is restored",
    FLORC + "replay/session/proof.py",
    '    return key == wanted or bool(wanted) and wanted.startswith(f"{key}/")\n',
    "    return key == wanted\n",
    SPAWNED + "test_ranks_that_print_nothing_are_compared_all_the_same",
)
add(
    "project: a package that was installed from its folder is a library",
    FLORC + "project/installed.py",
    "            if any(words in url for words in _OWN) is is_own:\n",
    "            if not is_own:\n",
    "tests/test_tools.py::test_a_package_that_is_installed_from_its_folder_is_recorded_and_asked",
)
add(
    "restore: attributes that may be missing are not bound",
    FLORC + "replay/session/restore.py",
    "            _bind_attribute(frame, name, values)\n",
    "            pass\n",
    "tests/replay/test_small_scripts.py::test_replay_prints_what_the_added_statements_would_have",
)
add(
    "check: a state that cannot be compared counts as equal",
    FLORC + "replay/session/compare.py",
    '            self.uncompared.append(f"{checkpoint.key} is not compared with its checkpoint: {error}")\n',
    "            self.verified += 1\n",
    CHECK + "test_a_state_that_cannot_be_compared_is_no_difference",
)
add(
    "diff: the first checkpoint of both decides",
    FLORC + "answers/compared.py",
    '        found["equal_up_to"] = _named_at(a, key)\n',
    '        return {**found, "generators": generators}\n',
    "tests/test_runs_compared.py::test_two_runs_part_where_their_plain_runs_do",
)
add(
    "settings: a replay has the present value",
    FLORC + "replay/session/session.py",
    "        return recorded[0] if len(recorded) == 1 and type(recorded[0]) is type(value) else value\n",
    "        return value\n",
    "tests/test_runs_compared.py::test_settings_are_those_of_the_command_line_and_kept",
)
add(
    "progress: the line stays where an answer is printed",
    FLORC + "process/divert.py",
    "        if self.depth == 1:\n            clear_line()\n",
    "        if self.depth == 1:\n",
    "tests/test_terminal.py::test_a_replay_shows_where_it_is_and_leaves_nothing_of_that",
)
add(
    "pacer: looks at nested executions take what they say that they computed",
    FLORC + "record/pacer.py",
    "        return passed, min(max(seconds, 0.0), MOST_PASSED_S)\n",
    "        return passed, 0.0\n",
    "tests/test_pacer.py::test_looks_in_vain_stay_within_the_overhead_where_executions_are_nested",
)
add(
    "answers: what was written in runs that were not asked for counts, too",
    FLORC + "replay/session/capture.py",
    "                tap.answers()  # of runs that were not asked for\n",
    "                pass\n",
    "tests/test_logged.py::test_answers_on_standard_error_are_those_of_a_plain_run",
)
add(
    "answers: a worker's standard error stays in its file",
    FLORC + "replay/parallel/workers.py",
    "            print_file(worker.out, errors_of(worker.task.result))\n",
    "            print_file(worker.out, os.devnull)\n",
    "tests/test_parallel_replay.py::test_what_goes_to_standard_error_comes_from_all_workers_in_order",
)
add(
    "imports: a module that was missing once is never found among the user's",
    FLORC + "project/territory.py",
    "        return super().find_spec(fullname, own) is not None\n",
    "        return False\n",
    "tests/test_tools.py::test_a_module_that_was_missing_when_it_was_asked_for_is_followed_later",
)
