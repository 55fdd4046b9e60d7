"""Plays cases and judges what is seen. It prints nothing and knows no file format."""
