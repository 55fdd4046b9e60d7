"""Tests of the commands that look at many releases."""
