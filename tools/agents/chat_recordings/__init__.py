"""Recordings of chats at work: started at the first call, stored at the end of the turn."""
