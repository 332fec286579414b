#!/usr/bin/env python
# -*- coding: utf-8 -*-
"""A docstring
over two lines."""
from __future__ import annotations
from __future__ import division; import os

_florc = "a name that is taken"
for epoch in range(2):
    for batch in (loader):
        model.fit(batch)
    for pair in 1, 2:
        model.fit(pair)
    for item in *first, second:
        model.fit(item)
