// Gestures of noVNC, without a defect of version 1.7.0.
//
// A timer distinguishes two fingers that spread from two that move together. noVNC does not forget
// the number of that timer when it has fired. At the end of the next touch it then takes the timer
// for one that still runs, and drops the touch: the first tap after a pinch presses nothing.
import GestureHandler from "./novnc/core/input/gesturehandler.js";

const expired = GestureHandler.prototype._twoTouchTimeout;

GestureHandler.prototype._twoTouchTimeout = function () {
  this._twoTouchTimeoutId = null;
  expired.call(this);
};

export default GestureHandler;
