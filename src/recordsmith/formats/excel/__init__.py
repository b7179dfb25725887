"""Sheets of Excel workbooks, through openpyxl."""
