"""Campaigns play many cells for one question. Each is data in and data out: fronts print."""
