"""What runs inside the verifier's sandbox, by the interpreter that is there: the standard library and pytest alone."""
