"""The console of every campaign and command, built on `rich`.

- `lines`: a line of text with styles. Every text in it is escaped; nothing is read as markup.
- `tables`: rows and columns as lines.
- `screen`: writes lines to a stream, with colours and a progress display where the stream is a terminal.
- `progress`: cells played of cells planned, and the time left.
- `evidence`, `first_screen`, `summary`: what is printed about cells.
- `campaign`: the sink that prints a run, a matrix or a gate.

`rich` is imported by these modules only. Commands import them when they print.
"""
