"""Named pipes: a replayed script and the programs that it starts meet in the same one, and the user's folder stays as it is."""

from __future__ import annotations

import os
import textwrap

import pytest
from test_world import Place, place, totals  # noqa: F401 - a fixture

PIPES = {
    "made": ('os.mkfifo("p")', ""),
    "left by the recorded run": ('if not os.path.exists("p"): os.mkfifo("p")', ""),
    "there before, and written to": ('"there"', ""),
    "there before, and made anew": ('os.remove("p"); os.mkfifo("p")', ""),
    "removed": ('os.mknod("p", 0o600 | stat.S_IFIFO)', 'os.remove("p")'),
    "removed, and a file instead": ('os.mkfifo("p")', 'os.remove("p"); open("p", "w").close(); os.remove("p")'),
    "in a folder": ('os.makedirs("q/r"); os.mkfifo("q/r/p"); os.symlink("q/r/p", "p")', ""),
    "in a folder that is removed": (
        'os.makedirs("q/r"); os.mkfifo("q/r/p"); os.chdir("q/r")',
        'os.chdir("../.."); shutil.rmtree("q")',
    ),
    "in a temporary folder": ('os.chdir(tempfile.mkdtemp()); os.mkfifo("p")', 'shutil.rmtree(os.getcwd()); os.chdir("/")'),
}


@pytest.mark.parametrize("world", ["1", "0"])
@pytest.mark.parametrize("how", PIPES)
def test_programs_and_the_script_meet_in_the_same_pipe(how: str, world: str, place: Place) -> None:  # noqa: F811 - the fixture
    if world == "0" and place.user != os.geteuid():
        pytest.skip("as for root")
    make, remove = PIPES[how]
    text = f"""
        import os, shutil, stat, subprocess, tempfile
        {make}
        total = 0
        for epoch in range(2):
            for step in map(int, range(4)):
                total += step
            child = subprocess.Popen("read x < p; echo $x $x > p", shell=True)
            with open("p", "w") as out:
                out.write(f"{{total}}\\n")
            with open("p") as back:
                total += len(back.read())
            child.wait()
            #ASK
            print("epoch", epoch, total, flush=True)
        {remove}
    """
    text = textwrap.dedent(text).lstrip("\n")
    place.write(text)
    if "there before" in how:
        os.mkfifo(place.path / "p")
    place.own()
    recorded = place.florc("record", "--checkpoint", "every", "train.py")
    assert recorded.returncode == 0, recorded.stderr
    place.write(text.replace("#ASK", 'print("Q", total)'))
    before = place.look()
    done = place.florc("replay", "train.py", FLORC_WORLD=world)
    assert done.stdout.splitlines() == [f"Q {n}" for n in totals(recorded.stdout)], (done.stdout, done.stderr)
    assert done.returncode == 0 and "ANOMALOUS" not in done.stderr, done.stderr
    if world == "1":
        assert place.look() == before
    else:  # what is written to a pipe gives it another time
        assert place.look().keys() == before.keys()
