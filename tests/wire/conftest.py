"""A real server for the session, with a user and a limit of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.servers import served

CONFIG = """\
max_payload: 8MB
accounts {
  A {
    users [
      {user: alice, password: secret, permissions: {publish: {deny: 'forbidden'}}},
      {user: anyone, password: any}
    ]
  }
}
no_auth_user: anyone
"""


@pytest.fixture(scope="session")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The client port of a real server with an 8 MB payload limit and a user `alice`."""
    with served(tmp_path_factory.mktemp("nats"), CONFIG, jetstream=False) as found:
        yield found
