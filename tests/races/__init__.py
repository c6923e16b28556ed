"""Two sessions, one interleaving each. The one is an open transaction of the test, the other a thread."""
