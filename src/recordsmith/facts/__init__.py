"""Facts: what one pass over the data tells, as frozen dataclasses that know neither terminals nor options."""
