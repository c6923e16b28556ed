"""What to do about what is due: values in, frozen decisions out."""

from __future__ import annotations
