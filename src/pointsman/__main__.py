"""`python -m pointsman` is the same as `pointsman`."""

from pointsman.cli import main

if __name__ == "__main__":
    main()
