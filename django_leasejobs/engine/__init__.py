"""One module for each transaction: a verb and a noun, one function, one frozen result."""
