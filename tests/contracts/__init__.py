"""The promises I1 to I10, each in its own file; every one of them is tried on every database."""
