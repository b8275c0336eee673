"""The ways observations come in: validation, importers, assembly. It is not storage."""
