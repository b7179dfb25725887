"""Renderers for the terminal: facts and results in, text or JSON-ready values out."""
