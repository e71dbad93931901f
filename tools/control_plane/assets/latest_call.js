// Calls of one kind that may overlap: an answer counts only while no later call has begun.

export class LatestCall {
  constructor() {
    this.begun = 0;
  }

  /** Begins a call; returns a function that returns whether it is still the latest. */
  begin() {
    this.begun += 1;
    const mine = this.begun;
    return () => mine === this.begun;
  }
}
