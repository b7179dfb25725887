"""`python -m recordsmith` is the command `recordsmith`."""

from recordsmith.cli import main

if __name__ == "__main__":
    main(prog_name="recordsmith")
