"""The format of case files: what is rejected, what fails and what passes."""
