"""A stand-in for Go: a script that lists, builds and fails as a test wants it to."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from jetproof.targets.go_build import MODULE
from jetproof.targets.releases import known_releases, module_of

SUMS = {
    str(version): module.sum
    for version in known_releases()
    if (module := module_of(version)) is not None
}
VERSIONS = "v2.14.9 v2.15.0-RC.2 v2.15.0-RC.3 v2.15.0 v2.15.1 v2.15.2"
SERVER = 'printf \'#!/bin/sh\\necho nats-server: v2.15.2\\n\' > "$out"; chmod +x "$out"'
SCRIPT = """\
#!/bin/sh
echo "$*" >> {log}/calls
env | sort > {log}/env-$1
case "$1" in
env) printf '{version}\\nlinux\\namd64\\nv1\\n\\n\\n' ;;
list) if [ "$3" = -versions ]; then {listing}
else {named}
fi ;;
install) out="$GOBIN/nats-server"
{build}
;;
version) echo mod {module} v{built} {sum} ;;
build) out="$5"
{build}
;;
esac
"""


class FakeGo:
    """The script, and what it was called with."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.write()

    def write(
        self,
        build: str = SERVER,
        *,
        version: str = "go1.26.8",
        listing: str = f"echo github.com/nats-io/nats-server/v2 {VERSIONS}",
        named: str = "echo unknown revision >&2; exit 1",
        built: str = "2.15.2",
        sum: str | None = None,
    ) -> None:
        words: dict[str, object] = {
            "log": self.folder,
            "version": version,
            "listing": listing,
            "named": named,
        }
        words |= {"module": MODULE, "built": built, "sum": sum or SUMS.get(built, "h1:x=")}
        script = SCRIPT.format(**words, build=build)
        path = self.folder / "go"
        path.write_text(script)
        path.chmod(0o755)

    def calls(self, name: str) -> list[str]:
        log = self.folder / "calls"
        lines = log.read_text().splitlines() if log.exists() else []
        return [line for line in lines if line.split()[0] == name]

    def env(self, name: str) -> dict[str, str]:
        lines = (self.folder / f"env-{name}").read_text().splitlines()
        return dict(line.partition("=")[::2] for line in lines)

    def remove(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Now there is no Go, whatever this machine has."""
        (self.folder / "go").unlink()
        monkeypatch.setenv("PATH", str(self.folder))


MakeGo = Callable[[], FakeGo]


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> FakeGo:
    """A fake Go, first on the PATH."""
    made = FakeGo(folder)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("JETPROOF_OFFLINE", raising=False)
    return made
