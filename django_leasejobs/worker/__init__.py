"""Processes, pools and loops. They drive; the engine decides and writes."""
