"""Waiting for a condition of the screen, a program or the browser, without repeated screenshots."""
