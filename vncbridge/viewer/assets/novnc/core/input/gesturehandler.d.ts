// The part of the library that the viewer uses.
export type GestureDetail = { type: string; clientX: number; clientY: number; magnitudeX: number; magnitudeY: number };

/** Turns touches of its target into the events `gesturestart`, `gesturemove` and `gestureend` there. */
export default class GestureHandler {
  attach(target: HTMLElement): void;
  detach(): void;
  /** Decides between a pinch and a drag of two fingers, when its timer fires. */
  _twoTouchTimeout(): void;
  _twoTouchTimeoutId: number | null;
}
