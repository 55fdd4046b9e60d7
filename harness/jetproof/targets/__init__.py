"""Start and stop what is tested: servers as processes, in containers, or somebody else's.

`spec` reads target strings, `releases` provides binaries, `config` the server configurations,
`topology.start_target` starts a target and takes it down again. Everything is an async context
manager that leaves nothing behind.
"""
