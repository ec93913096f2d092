#!/usr/bin/env python3
"""Mutation run: which of the faults in mutants.txt do the tests catch?

    python3 tests/mutation/run.py [--build FOLDER] [--only N,M,...]

Copies the project into FOLDER (build/mutation), builds all faults into one kernelet_tests, each switched on by the
environment variable KERNELET_MUTANT, and checks that every test passes while none is. Then runs the tests file by file
for each fault, those named for the mutated file first and the quick ones before the slow ones, until one fails, crashes or
takes ten times its usual CPU time. Prints a table and the share that is caught; exits with 1 where that is below 90 %.
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[2]
SWITCH = """#pragma once
#include <cstdlib>
namespace kernelet_mutation {
inline const int active = [] {
    const char* number = std::getenv("KERNELET_MUTANT");
    return number != nullptr ? std::atoi(number) : 0;
}();
inline bool is(int number) { return active == number; }
}  // namespace kernelet_mutation
"""


def read_mutants(path):
    mutants = []
    for line in path.read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition(" ")
        if key.isdigit():
            mutants.append({"number": int(key), "file": value.strip(), "now": ""})
        elif key and key != "#":
            mutants[-1][key] = value.strip()
    numbers = [mutant["number"] for mutant in mutants]
    if numbers != sorted(set(numbers)):
        sys.exit("mutants.txt: numbers must rise")
    return mutants


def place_of(words, text, mutant, begin=0, once=True):
    """Where words stand in text; a space of the words matches any white space."""
    pattern = r"\s+".join(re.escape(word) for word in words.split())
    found = list(re.finditer(pattern, text[begin:]))
    if not found or (once and len(found) > 1):
        sys.exit(f"mutant {mutant['number']}: '{words}' occurs {len(found)} times in {mutant['file']}")
    return begin + found[0].start(), begin + found[0].end()


def switched(mutant, original):
    number, now = mutant["number"], mutant["now"]
    if original.endswith(";"):
        return f"{{ if (::kernelet_mutation::is({number})) {{ {now} }} else {{ {original} }} }}"
    return f"(::kernelet_mutation::is({number}) ? ({now}) : ({original}))"


def mutated_files(mutants):
    """The text of each file with all of its faults, by its path below include/kernelet."""
    texts, edits = {}, {}
    for mutant in mutants:
        file = mutant["file"]
        text = texts.setdefault(file, (PROJECT / "include/kernelet" / file).read_text(encoding="utf-8"))
        begin = place_of(mutant["after"], text, mutant)[1] if "after" in mutant else 0
        first, end = place_of(mutant["was"], text, mutant, begin, "after" not in mutant)
        edits.setdefault(file, []).append((first, end, switched(mutant, text[first:end])))
    for file, changes in edits.items():
        for first, end, words in sorted(changes, reverse=True):  # from the back: places stay what they were
            texts[file] = texts[file][:first] + words + texts[file][end:]
        texts[file] = texts[file].replace("#pragma once\n", "#pragma once\n#include <kernelet_mutation.hpp>\n", 1)
    return texts


def write_if_new(path, data):
    """Leaves a file alone that is the same already, so that it is not compiled again."""
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def copy_project(copy, mutants):
    texts = {pathlib.Path("include/kernelet") / file: text.encode() for file, text in mutated_files(mutants).items()}
    texts[pathlib.Path("include/kernelet_mutation.hpp")] = SWITCH.encode()
    for name in ("CMakeLists.txt", "cmake", "src", "include", "tests", "benchmarks/support"):
        top = PROJECT / name
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            if path.is_file():
                texts.setdefault(path.relative_to(PROJECT), path.read_bytes())
    for path in [path for path in copy.rglob("*") if path.is_file()]:
        if path.relative_to(copy) not in texts:
            path.unlink()
    for path, data in texts.items():
        write_if_new(copy / path, data)


def build(folder):
    flags = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG", "-DKERNELET_TEST_OPTIONS=-O0"]
    for what in ("BUILD_EXAMPLES", "BUILD_BENCHMARKS", "INSTALL", "TEST_ALL"):
        flags.append(f"-DKERNELET_{what}=OFF")
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    here, jobs = folder / "build", str(os.cpu_count() or 2)
    subprocess.run(["cmake", "-S", folder / "copy", "-B", here, *generator, *flags, "--log-level=WARNING"], check=True)
    subprocess.run(["cmake", "--build", here, "--target", "kernelet_tests", "--parallel", jobs], check=True)
    return here / "tests/kernelet_tests"


def outcome(program, stem, number, limit):
    """How one file of tests ends, None where it passes, and its CPU seconds: other programs may run beside."""
    environment = dict(os.environ, KERNELET_MUTANT=str(number), OMP_NUM_THREADS="1")
    seconds = math.ceil(limit)
    process = subprocess.Popen([program, "-#", f"[#{stem}]~[.]"], env=environment, cwd=program.parent,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5)))
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = code = os.waitstatus_to_exitcode(status)
    end = None if code == 0 else "timeout" if code == -signal.SIGXCPU else "crash" if code < 0 else "failure"
    return end, usage.ru_utime + usage.ru_stime


def usual_seconds(program, folder, pool):
    """CPU seconds of each file of tests without a fault; measured once per build."""
    held, stamp = folder / "usual_seconds.json", program.stat().st_mtime_ns
    if held.exists() and (known := json.loads(held.read_text()))["stamp"] == stamp:
        return known["seconds"]
    stems = sorted(path.stem for path in (folder / "copy/tests").glob("*_test.cpp"))
    ends = dict(zip(stems, pool.map(lambda stem: outcome(program, stem, 0, 3600.0), stems)))
    if failed := [f"{stem} ({end})" for stem, (end, _) in ends.items() if end]:
        sys.exit("without a fault these tests do not pass: " + ", ".join(failed))
    seconds = {stem: taken for stem, (_, taken) in ends.items()}
    held.write_text(json.dumps({"stamp": stamp, "seconds": seconds}))
    return seconds


def test_order(mutant, seconds):
    path = pathlib.PurePath(mutant["file"])
    named = [f"{path.stem.removesuffix('_impl')}_test", f"{path.parent.name}_test"]
    return sorted(seconds, key=lambda stem: (named.index(stem) if stem in named else len(named), seconds[stem]))


def killer(program, mutant, seconds):
    """The first file of tests that does not pass, and how it ends; or None."""
    least = 10.0  # seconds
    for stem in test_order(mutant, seconds):
        end, _ = outcome(program, stem, mutant["number"], max(least, 10.0 * seconds[stem]))
        if end:
            return stem, end
    return None


def report(mutants, killers):
    """Prints a row per fault, as they come, and returns the share that is caught."""
    caught = counted = 0
    print("| | file | fault | killed by |\n|---|---|---|---|")
    for mutant, killed in zip(mutants, killers):
        verdict = "equivalent: " + mutant["same"] if "same" in mutant else "SURVIVED"
        if killed:
            verdict = killed[0] if killed[1] == "failure" else f"{killed[0]} ({killed[1]})"
        print(f"| {mutant['number']} | {mutant['file']} | {mutant['what']} | {verdict} |", flush=True)
        if "same" not in mutant:
            counted += 1
            caught += 1 if killed else 0
    share = caught / max(counted, 1)
    print(f"caught: {caught} of {counted}, {100.0 * share:.1f} %")
    return share


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=PROJECT / "build/mutation", metavar="FOLDER")
    parser.add_argument("--only", metavar="N,M,...", help="these faults alone")
    given = parser.parse_args()
    folder = given.build.resolve()
    mutants = read_mutants(pathlib.Path(__file__).with_name("mutants.txt"))
    copy_project(folder / "copy", mutants)
    program = build(folder)
    if given.only:
        wanted = {int(number) for number in given.only.split(",")}
        mutants = [mutant for mutant in mutants if mutant["number"] in wanted]
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
        seconds = usual_seconds(program, folder, pool)
        share = report(mutants, pool.map(lambda mutant: killer(program, mutant, seconds), mutants))
    return 0 if share >= 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
