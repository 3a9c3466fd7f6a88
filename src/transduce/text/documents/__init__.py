"""Documents as templates around sentences: plain text, HTML, PO, XLIFF and SubRip subtitles."""
