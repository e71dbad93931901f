// Calls of one kind that may overlap: no answer replaces that of a call which began later.
//
// An answer counts although a later call is on its way: where answers are slower than the events
// that request them, each would otherwise be dropped.

export class OverlappingCalls {
  constructor() {
    this.begun = 0;
    this.accepted = 0;
  }

  /** Begins a call. */
  begin() {
    this.begun += 1;
    const mine = this.begun;
    return {
      /** Returns whether no later call has begun. */
      isLatest: () => mine === this.begun,
      /** Returns whether the answer of no later call was accepted; then this one is. */
      accept: () => {
        const isNewer = mine > this.accepted;
        this.accepted = Math.max(this.accepted, mine);
        return isNewer;
      },
    };
  }
}
