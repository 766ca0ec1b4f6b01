"""The HTTP side of the monitor: routes, intake, access, limits and the OpenAPI document."""
