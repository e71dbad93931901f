"""Common code of the providers' adapters: pictures of a history, errors of a request."""
