"""The strategy `market`: what a good answer costs at each target, in money. May import `domain` only.

Read `adjusted.py` for the formula, `worth.py` for the value of time, `outlook.py` for what is worked out once per tick,
and `draws.py` for chance. `scorers/market.py` puts them together for one request.
"""
