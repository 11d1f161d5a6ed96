"""Builds the shared library of ../cmd/libdgm and the programs into the package."""
import os
import pathlib
import shutil
import subprocess

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

PROGRAMS = ("dgm-train", "dgm-eval")
REPOSITORY = pathlib.Path(__file__).resolve().parent.parent


class BuildLibrary(build_py):
    def run(self):
        super().run()
        target = pathlib.Path(self.build_lib) / "dgm" / "libdgm.so"
        self.programs(target.with_name("bin"))
        if ready := os.environ.get("DGM_LIBRARY"):
            shutil.copyfile(ready, target)
            return
        compiler = os.environ.get("CC", "gcc")
        for program, package in [("go", "Go 1.26 from https://go.dev/dl"), (compiler, "a C compiler (apt install gcc)")]:
            if shutil.which(program) is None:
                raise SystemExit(
                    f"dgm: {program} is not in PATH, and libdgm.so is built with it: install {package}, "
                    "or set DGM_LIBRARY to an installed libdgm.so"
                )
        if not (REPOSITORY / "cmd" / "libdgm").is_dir():
            raise SystemExit(f"dgm: {REPOSITORY} holds no cmd/libdgm: install from the folder python of the repository, or set DGM_LIBRARY")
        command = ["go", "build", "-trimpath", "-ldflags=-s -w", "-buildmode=c-shared", "-o", str(target.resolve()), "./cmd/libdgm"]
        subprocess.run(command, cwd=REPOSITORY, env={**os.environ, "CGO_ENABLED": "1", "CC": compiler}, check=True)
        target.with_suffix(".h").unlink()  # cgo's; dgm.h is the library's


    def programs(self, folder: pathlib.Path) -> None:
        """Builds the programs, or copies those of DGM_PROGRAMS; without Go the package predicts and does not learn."""
        folder.mkdir(exist_ok=True)
        ready = os.environ.get("DGM_PROGRAMS")
        for name in PROGRAMS:
            if ready:
                shutil.copy(pathlib.Path(ready) / name, folder / name)
            elif shutil.which("go") and (REPOSITORY / "cmd" / name).is_dir():
                command = ["go", "build", "-trimpath", "-ldflags=-s -w", "-o", str((folder / name).resolve()), f"./cmd/{name}"]
                subprocess.run(command, cwd=REPOSITORY, env={**os.environ, "CGO_ENABLED": "0"}, check=True)


class PlatformWheel(bdist_wheel):
    """A wheel for one platform and every Python: the library is loaded by ctypes."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(cmdclass={"build_py": BuildLibrary, "bdist_wheel": PlatformWheel})
