"""Jetproof: does this NATS server or client speak JetStream as its specifications say?

A case is data. An engine plays it. A verdict is a row. A report is a query.
Data flows one way; a module imports only from those on its left:

    model, wire, events -> load -> plan -> targets -> engine -> sinks -> cli, pytest_plugin
"""

__version__ = "0.1.0"
