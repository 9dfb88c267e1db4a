"""Routing in virtual time: the production exchange and signal board, over modelled endpoints.

May import `config`, `routing`, `signals` and `domain`. Read `world.py`, then `endpoint.py` and `nodes.py`.
Nothing reads a clock or draws lots but by a seed: the same seed gives the same run, bit for bit.
"""
