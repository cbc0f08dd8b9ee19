"""Pure parsers, text to `core.readings`: one file per source, one public function each."""
