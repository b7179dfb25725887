"""Renderers: facts in, text or JSON-ready values out. They read and write nothing."""
