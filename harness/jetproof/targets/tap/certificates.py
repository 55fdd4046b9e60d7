"""Certificates for taps that speak TLS with their clients, made on the spot and good for a day."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

from jetproof.errors import JetproofError

_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
_NAMES = "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1\nbasicConstraints=CA:FALSE\n"


@dataclass(frozen=True, slots=True)
class Certificate:
    """Files in PEM form: an authority to trust, and what it signed for this machine."""

    authority: Path
    certificate: Path
    key: Path

    def context(self) -> ssl.SSLContext:
        """For the side that shows the certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        return context


def make_certificate(folder: Path) -> Certificate:
    """Makes an authority and a certificate for localhost; JetproofError without `openssl`."""
    folder.mkdir(parents=True, exist_ok=True)
    names = {name: str(folder / name) for name in ("ca.pem", "ca.key", "tap.pem", "tap.key")}
    request, extensions = folder / "tap.csr", folder / "tap.ext"
    extensions.write_text(_NAMES)
    authority = ("-keyout", names["ca.key"], "-out", names["ca.pem"], "-days", "1")
    _openssl("req", "-x509", *_KEY, "-subj", "/CN=jetproof", *authority)
    asked = ("-keyout", names["tap.key"], "-out", str(request))
    _openssl("req", *_KEY, "-subj", "/CN=localhost", *asked)
    signed = ("-in", str(request), "-out", names["tap.pem"], "-days", "1")
    by = ("-CA", names["ca.pem"], "-CAkey", names["ca.key"], "-CAcreateserial")
    _openssl("x509", "-req", *signed, *by, "-extfile", str(extensions))
    return Certificate(folder / "ca.pem", folder / "tap.pem", folder / "tap.key")


def _openssl(*arguments: str) -> None:
    program = shutil.which("openssl")
    if program is None:
        raise JetproofError(
            "a tap that speaks TLS needs a certificate, and there is no program openssl to make one",
            phase="start",
            hint="install OpenSSL",
        )
    done = subprocess.run(
        [program, *arguments], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if done.returncode:
        text = done.stderr.decode(errors="replace").strip()
        raise JetproofError(f"openssl {arguments[0]} failed: {text}", phase="start")
