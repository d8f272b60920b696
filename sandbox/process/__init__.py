"""Process trees on the host's side: the programs that start them, the descriptors that prove their death."""
