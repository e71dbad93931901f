// The part of the library that the viewer uses.
export default class RFB extends EventTarget {
  constructor(target: HTMLElement, socket: WebSocket, options: { shared: boolean });
  background: string;
  scaleViewport: boolean;
  viewOnly: boolean;
  addEventListener(type: "connect" | "disconnect", listener: () => void): void;
  addEventListener(type: "securityfailure", listener: (event: CustomEvent<{ status: number; reason?: string }>) => void): void;
  blur(): void;
  disconnect(): void;
  focus(options?: FocusOptions): void;
  /** Without `down` the key is pressed and released. */
  sendKey(keysym: number, code?: string, down?: boolean): void;
  toDataURL(type: string, quality: number): string;
}
