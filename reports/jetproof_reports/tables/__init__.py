"""The tables of a report: pure functions from DataFrames to DataFrames.

Nothing here touches files, the Spark context or Python functions on rows, so the same code runs in
this process, on a cluster and through Spark Connect.
"""
