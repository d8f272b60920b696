"""Whether a governor keeps an agent from claiming what is not so, and at what price: pre-registered, exact."""
