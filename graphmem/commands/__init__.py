"""What a shell command or a patch does to files, read without running anything."""
