"""One function per route: parameters in, response out. The docstring is the summary in the OpenAPI document."""
