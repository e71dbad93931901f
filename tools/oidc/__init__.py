"""Sign-in of people by an OpenID Connect provider."""
