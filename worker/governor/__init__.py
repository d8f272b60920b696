"""What a contract is, whether it bears its claims out, and what its checks come to at a stop of the agent."""
