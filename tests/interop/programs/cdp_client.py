"""Connects to a browser by its address alone, opens a page, fills in its form and prints it."""

import sys

from playwright.sync_api import sync_playwright

address, url = sys.argv[1:]
with sync_playwright() as playwright:
    browser = playwright.chromium.connect_over_cdp(address)
    page = browser.contexts[0].new_page()
    page.goto(url)
    page.fill("input", "Grüße")
    page.click("button")
    sys.stdout.write(page.inner_text("p"))
    page.close()
