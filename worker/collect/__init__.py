"""What comes out of a sandbox, taken with tongs: bounded, and never through a link."""
