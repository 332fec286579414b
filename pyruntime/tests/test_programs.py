"""Programs that the script starts: what they say is what they said in the recorded run, however they are started; what those say
that the user has edited since is what they say now, and flagged. The truth is what the recorded run wrote down itself."""

from __future__ import annotations

import ast

import pytest
from workshop import Workshop

STARTED = {
    "check_output": "subprocess.check_output(['date', '+%N'])",
    "run": "subprocess.run(['date', '+%N'], capture_output=True, text=True).stdout",
    "errors": "subprocess.run('date +%N >&2', shell=True, stderr=subprocess.PIPE).stderr",
    "both": "said(subprocess.run('date +%N; date +%N >&2; date +%N', shell=True, capture_output=True))",
    "one pipe": "subprocess.run('date +%N; date +%N >&2', shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout",
    "exit code": "subprocess.call('exit $(date +%N | cut -c 4-5 | sed s/^0//)', shell=True)",
    "getoutput": "subprocess.getstatusoutput('date +%N')",
    "popen": "os.popen('date +%N').read()",
    "lines": "lines('date +%N; sleep 0.01; date +%N; sleep 0.01; date +%N')",
    "much": "hashlib.md5(subprocess.check_output('head -c 200000 /dev/urandom', shell=True)).hexdigest()",
    "first line": "first('yes $(date +%N)')",
    "in turn": "turns()",
    "several": "[p.communicate()[0] for p in [subprocess.Popen(['date', '+%N'], stdout=-1) for _ in range(3)]]",
    "not found": "missing('no-such-program')",
    "spawned": "spawned()",
    "asyncio": "asyncio.run(awaited())",
}
PROGRAM = """
    import asyncio, hashlib, os, subprocess

    def said(done): return done.stdout, done.stderr, done.returncode
    def lines(command):
        with subprocess.Popen(command, shell=True, stdout=subprocess.PIPE, text=True, bufsize=1) as program:
            return [line.strip() for line in program.stdout]
    def first(command):
        with subprocess.Popen(command, shell=True, stdout=subprocess.PIPE) as program:
            return program.stdout.readline()
    def turns():
        with subprocess.Popen("while read x; do echo $x $(date +%N); done", shell=True, stdin=-1, stdout=-1, text=True, bufsize=1) as p:
            found = []
            for number in range(3):
                p.stdin.write(f"{number}\\n")
                p.stdin.flush()
                found.append(p.stdout.readline())
            p.stdin.close()
            return found
    def missing(command):
        try:
            return subprocess.check_output([command])
        except OSError as error:
            return repr(error)
    def spawned():
        out, into = os.pipe()
        number = os.posix_spawn("/bin/sh", ["sh", "-c", "date +%N"], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, into, 1)])
        os.close(into)
        found = []
        while data := os.read(out, 100):
            found.append(data)
        os.close(out)
        return b"".join(found), os.waitpid(number, 0)[1]
    async def awaited():
        program = await asyncio.create_subprocess_exec("date", "+%N", stdout=subprocess.PIPE)
        return (await program.communicate())[0]
    values = []
    for epoch in range(3):
        for step in range(5):
            total = sum(range(1000))
        values.append(STARTED)
        print("epoch", epoch, total)
        #PROBE
    open("truth", "w").write(repr(values))
"""


@pytest.mark.parametrize("how", STARTED)
def test_what_programs_say_is_given_back(workshop: Workshop, how: str) -> None:
    text = PROGRAM.replace("STARTED", STARTED[how])
    replayed, truth = workshop.written_down(text, 'print("P", values[-1:])', "--checkpoint", "every")
    is_right = "[" + ", ".join(line[3:-1] for line in replayed.out.splitlines()) + "]" == truth
    assert is_right or "exact: " not in replayed.said, replayed.out + truth + replayed.said
    assert is_right and replayed.code == 0 and "exact: " in replayed.said, replayed.out + truth + replayed.said


OWN = """
    import subprocess, sys
    values = []
    for epoch in range(3):
        for step in range(5):
            total = sum(range(1000))
        values.append(subprocess.check_output(COMMAND, text=True))
        print("epoch", epoch, total)
        #PROBE
"""


@pytest.mark.parametrize(
    "command", ["[sys.executable, 'own.py']", "'./own.sh'", "['sh', 'own.sh']", "'./own.sh | cat', shell=True"]
)
def test_a_program_of_the_users_says_what_it_said_until_it_is_edited(workshop: Workshop, command: str) -> None:
    workshop.write("own.py", "import time\nprint(time.time_ns())\n")
    workshop.write("own.sh", "#!/bin/sh\ndate +%N\n").chmod(0o755)
    text = OWN.replace("COMMAND", command)
    replayed, truth = workshop.written_down(text + '    open("truth", "w").write(repr(values))\n', 'print("P", values[-1:])')
    is_right = "[" + ", ".join(line[3:-1] for line in replayed.out.splitlines()) + "]" == truth
    assert is_right and replayed.code == 0 and "exact: " in replayed.said, replayed.out + truth + replayed.said
    workshop.write("own.py", "print('one')\nprint('two')\n")
    workshop.write("own.sh", "#!/bin/sh\necho one\necho two\n").chmod(0o755)
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out == "P ['one\\ntwo\\n']\n" * 3 and "exact: " not in replayed.said, replayed.out + replayed.said


TWO = """
    import subprocess, sys
    values = []
    for epoch in range(3):
        own = subprocess.check_output([sys.executable, "own.py"], text=True)
        values.append(subprocess.check_output(["date", "+%N"], text=True))
        #PROBE
    open("truth", "w").write(repr(values))
    print("done")
"""


def test_a_program_that_is_edited_leaves_what_others_said_as_it_was(workshop: Workshop) -> None:
    workshop.write("own.py", "print('one')\n")
    replayed, truth = workshop.written_down(TWO, 'print("P", own, values[-1:])')
    assert replayed.code == 0 and "exact: " in replayed.said, replayed.said
    workshop.write("own.py", "print('one')\nprint('two')\n")
    replayed = workshop.florc("replay", "train.py")
    said = [line[2:-1] for line in replayed.out.splitlines() if line.startswith(" [")]
    assert replayed.out.count("P one\ntwo") == 3 and "[" + ", ".join(said) + "]" == truth, replayed.out + truth + replayed.said
    assert "exact: " not in replayed.said, replayed.said


IN_A_FUNCTION = """
    import subprocess, sys
    def main():
        for epoch in range(3):
            print("epoch", epoch)
        finish()
    def finish():
        said = subprocess.check_output([sys.executable, "own.py"], text=True)
        with open("truth", "w") as file: file.write(repr(said))
        #PROBE
    main()
"""


def test_what_a_program_said_in_a_function_that_is_over_is_right(workshop: Workshop) -> None:
    workshop.write("own.py", "import time\nprint(time.time_ns())\n")
    replayed, truth = workshop.written_down(IN_A_FUNCTION, 'print("P", repr(said))')
    assert replayed.out == f"P {truth}\n" and "exact: " in replayed.said, replayed.out + truth + replayed.said
    workshop.write("own.py", "print('other')\n")
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out == "P 'other\\n'\n" and replayed.code == 0, replayed.out + replayed.said
    assert "unverified: " in replayed.said and "own.py says what it says now: it was edited since" in replayed.said, replayed.said


TALK = """
    import asyncio, subprocess, sys
    COMMAND = [sys.executable, "-u", "own.py"]
    def waiting(values):
        with subprocess.Popen(COMMAND, stdin=-1, stdout=-1, text=True, bufsize=1) as program:
            for epoch in range(4):
                program.stdin.write("1\\n")
                program.stdin.flush()
                values.append(program.stdout.readline())
                #waiting
            program.stdin.close()
            values.append(program.stdout.read())
    async def awaiting(values):
        program = await asyncio.create_subprocess_exec(*COMMAND, stdin=-1, stdout=-1)
        for epoch in range(4):
            program.stdin.write(b"1\\n")
            await program.stdin.drain()
            values.append((await program.stdout.readline()).decode())
            #awaiting
        program.stdin.close()
        values.append((await program.stdout.read()).decode())
        await program.wait()
    values = []
    HOW
    open("truth", "w").write(repr(values))
    print("done")
"""
SPEAKERS = {
    "shorter and longer lines": "print(10 ** (time.time_ns() // 1000 % 9))",
    "a line in two writes": "sys.stdout.write(str(time.time_ns() % 97)); sys.stdout.write('\\n')",
    "a line in two writes, later": "sys.stdout.write(str(time.time_ns() % 97)); time.sleep(0.02); sys.stdout.write('\\n')",
    "slow": "time.sleep(time.time_ns() // 1000 % 9 / 50); print(time.time_ns() % 97)",
}


@pytest.mark.parametrize("how", ["waiting", "awaiting"])
@pytest.mark.parametrize("speaks", SPEAKERS)
def test_talk_with_a_program_ends_however_what_it_says_falls_into_reads(workshop: Workshop, speaks: str, how: str) -> None:
    workshop.write(
        "own.py", f"import sys, time\nfor line in sys.stdin:\n    {SPEAKERS[speaks]}\nprint('bye', time.time_ns() % 997)\n"
    )
    call = {"waiting": "waiting(values)", "awaiting": "asyncio.run(awaiting(values))"}[how]
    text = TALK.replace("HOW", call).replace(f"#{how}", "#PROBE")
    replayed, truth = workshop.written_down(text, 'print("P", values[-1:])')
    is_right = [line[2:] for line in replayed.out.splitlines()] == [repr([value]) for value in ast.literal_eval(truth)[:4]]
    assert len(replayed.out.splitlines()) == 4 and (is_right or "exact: " not in replayed.said), (
        replayed.out + truth + replayed.said
    )
    assert is_right and "exact: " in replayed.said or how == "awaiting", replayed.out + truth + replayed.said
    assert workshop.florc("replay", "train.py").out == replayed.out


def test_what_an_added_statement_starts_says_what_it_says_now(workshop: Workshop) -> None:
    text = OWN.replace("COMMAND", "['date', '+%N']")
    workshop.write("train.py", text)
    assert workshop.florc("record", "train.py").code == 0
    workshop.write("train.py", text.replace("#PROBE", "print('P', subprocess.check_output(['echo', 'here']))"))
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out == "P b'here\\n'\n" * 3 and replayed.code == 0, replayed.out + replayed.said


def test_programs_that_say_too_much_are_not_given_back_and_not_called_exact(workshop: Workshop) -> None:
    text = OWN.replace("COMMAND", "'head -c 6000000 /dev/urandom | base64', shell=True")
    workshop.write("train.py", text)
    recorded = workshop.florc("record", "train.py")
    assert recorded.code == 0 and "said beyond 8 MiB is not kept" in recorded.said, recorded.said
    workshop.write("train.py", text.replace("#PROBE", 'print("P", values[-1][:5])'))
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out.count("P ") == 3 and "exact: " not in replayed.said, replayed.out + replayed.said
