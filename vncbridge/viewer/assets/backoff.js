// When to connect again. Times are milliseconds on one clock, given by the caller.

export class Backoff {
  constructor({ first = 1000, longest = 30000, tries = 10, stable = 3000 } = {}) {
    this.first = first;
    this.longest = longest;
    this.tries = tries;
    this.stable = stable;
    this.used = 0;
    /** @type {number | null} */
    this.since = null;
  }

  /** @param {number} now */
  connected(now) {
    this.since = now;
  }

  /** Milliseconds to wait before the next try, or null when there were enough. @param {number} now */
  lost(now) {
    if (this.since !== null && now - this.since >= this.stable) {
      this.used = 0;
    }
    this.since = null;
    if (this.used >= this.tries) {
      return null;
    }
    const wait = Math.min(this.first * 2 ** this.used, this.longest);
    this.used += 1;
    return wait;
  }

  reset() {
    this.used = 0;
    this.since = null;
  }
}
