"""A month of a GPU fleet and its bill, generated apart from the product."""
