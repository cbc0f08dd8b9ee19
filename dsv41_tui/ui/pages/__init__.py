"""Pages that fill the screen: each a pure function from a view to a sheet."""
