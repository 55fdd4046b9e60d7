"""The data plane: result files of any number of runs in, tables and the report page out.

PySpark is imported only where a table is computed, so that running cases needs neither Java nor the
extra `reports`. This package reads what `jetproof` wrote; it never runs a case.
"""
