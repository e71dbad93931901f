"""Vocabulary of chats: messages, states, views, titles, errors. Pure."""
